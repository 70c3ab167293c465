// Messages between threads of the test's process: one mailbox for each ordered pair of ranks.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "lockstep/comm/algorithms/exchange.h"
#include "lockstep/comm/algorithms/messenger.h"

namespace lockstep::testing {

// What all ranks of one test share.
class Mailboxes {
 public:
  void put(int from, int to, std::vector<std::byte> message);
  // Waits for the next message; throws when none comes for half a minute, or when it has another size.
  std::vector<std::byte> take(int from, int to, std::size_t bytes);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> boxes_;
};

class ThreadMessenger : public comm::Messenger {
 public:
  ThreadMessenger(Mailboxes& mailboxes, int rank, int world)
      : mailboxes_(mailboxes), rank_(rank), world_(world) {}
  int rank() const override { return rank_; }
  int world() const override { return world_; }

 protected:
  int start_send(int peer, const void* data, std::size_t bytes) override;
  int start_receive(int peer, void* data, std::size_t bytes) override;
  void finish(const comm::Ticket& ticket) override;

 private:
  // What was sent is kept until it is waited for: a collective that changes its memory too early is caught.
  struct Message {
    int peer;
    void* memory;
    std::vector<std::byte> sent;
  };
  Mailboxes& mailboxes_;
  int rank_, world_;
  std::vector<Message> messages_;
};

// Runs `body` as `world` ranks, each in a thread; rethrows what the first failing one threw.
void run_threads(int world, const std::function<void(comm::Exchange&)>& body,
                 const comm::AlgorithmOptions& options = {});

}  // namespace lockstep::testing
