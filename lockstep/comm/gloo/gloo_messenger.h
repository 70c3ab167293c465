// Messages over a connected gloo context.
//
// A message's slot, by which gloo matches a receive with a send, is made of the operation's number,
// collective and type and the message's size: ranks that disagree on an operation then wait for each other
// until the deadline, when their positions are compared, instead of writing past each other's memory.
#pragma once

#include <gloo/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <memory>
#include <mutex>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/comm/algorithms/messenger.h"
#include "lockstep/comm/gloo/loop_poster.h"
#include "lockstep/comm/operation.h"

namespace lockstep::comm {

class GlooMessenger : public Messenger {
 public:
  GlooMessenger(std::shared_ptr<gloo::Context> context, std::shared_ptr<gloo::transport::tcp::Device> device);
  ~GlooMessenger() override;

  int rank() const override { return context_->rank; }
  int world() const override { return context_->size; }

  // What follows belongs to this operation, which must stay until end().
  void begin(const Operation& operation, base::Deadline deadline);
  // The operation is over: forgets what a failed one left behind.
  void end();

  // From any thread: no message with this peer will end any more, or no message at all.
  void lose(int peer) noexcept;
  void abort() noexcept;

  // Turns an exception of gloo's into one of ours that names the peer.
  [[noreturn]] void fail(int peer, const std::string& cause) const;

 protected:
  int start_send(int peer, const void* data, std::size_t bytes) override;
  int start_receive(int peer, void* data, std::size_t bytes) override;
  void finish(const Ticket& ticket) override;

 private:
  using UnboundBuffer = gloo::transport::UnboundBuffer;
  struct Message {
    std::unique_ptr<UnboundBuffer> buffer;  // null: this place is free
    int peer = -1;
  };

  int start(int peer, void* data, std::size_t bytes, bool receives);
  int add(std::unique_ptr<UnboundBuffer> buffer, int peer);
  bool is_lost(int peer) const { return aborted_ || lost_[static_cast<std::size_t>(peer)]; }
  static void interrupt(const Message& message) noexcept;
  void refused(const Posting& posting, const std::string& cause);
  std::uint64_t slot_for(std::size_t bytes) const;

  std::shared_ptr<gloo::Context> context_;
  const Operation* operation_ = nullptr;
  base::Deadline deadline_{base::Nanoseconds(0)};
  std::uint64_t operations_ = 0;
  LoopPoster poster_;

  mutable std::mutex mutex_;  // the rest is also touched by lose(), abort() and refused()
  std::vector<Message> messages_;
  std::vector<bool> lost_;
  std::string refusal_;  // gloo's words, when it would not begin a message
  bool aborted_ = false;
};

}  // namespace lockstep::comm
