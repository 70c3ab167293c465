// Hands messages to gloo on gloo's own event thread.
//
// A gloo connection has one lock. Its event thread does not wait for it: it tries, and when the lock is taken
// it goes back to epoll, which reports the same event at once. So when the event thread wakes on the core of
// the thread that is just sending, and preempts it, it spins until the scheduler's next tick, 4 ms later,
// with the sender unable to go on. That is where the stalls of gloo's own all-reduces on loopback come from.
// When everything that takes the lock happens on the event thread, nobody ever contends for it.
#pragma once

#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lockstep/base/unique_fd.h"

namespace lockstep::comm {

// A send or a receive to be begun.
struct Posting {
  gloo::transport::UnboundBuffer* buffer;
  int peer;
  std::uint64_t slot;
  std::size_t bytes;
  bool receives;
};

class LoopPoster : public gloo::transport::tcp::Handler {
 public:
  using OnError = std::function<void(const Posting&, const std::string& cause)>;

  // `on_error` is called on the event thread when gloo refuses a posting.
  LoopPoster(std::shared_ptr<gloo::transport::tcp::Device> device, OnError on_error);
  ~LoopPoster() override;

  // Collects; flush() lets the event thread begin everything collected, in order.
  void add(const Posting& posting) { collected_.push_back(posting); }
  void flush();
  // Forgets what was not begun; returns when the event thread touches no posting any more.
  void clear();

  void handleEvents(int events) override;

 private:
  void begin(const Posting& posting);

  std::shared_ptr<gloo::transport::tcp::Device> device_;
  OnError on_error_;
  base::UniqueFd wake_;
  std::vector<Posting> collected_;  // by the caller, not yet flushed
  std::mutex queue_mutex_;
  std::vector<Posting> queue_;
  std::mutex begin_mutex_;  // held while postings are begun
};

}  // namespace lockstep::comm
