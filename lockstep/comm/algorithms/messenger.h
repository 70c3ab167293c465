// Point-to-point messages between the ranks of one group: what the collectives of this folder are made of.
//
// Messages from one rank to another arrive in the order in which they were sent, and the receiver must expect
// exactly the bytes that are sent. Everything a rank sends passes through send(), where it is counted: wire
// bytes are therefore exact, whatever the collective.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lockstep/comm/algorithms/wait_clock.h"

namespace lockstep::comm {

// One message on its way. An empty one is complete.
struct Ticket {
  int number = -1;
  bool receives = false;
  std::size_t bytes = 0;

  explicit operator bool() const { return number >= 0; }
};

// What one rank sent, and how long it waited for a late peer.
struct Traffic {
  std::uint64_t wire_bytes = 0;
  std::uint64_t messages = 0;
  base::Nanoseconds peer_wait{0};
};

class Messenger {
 public:
  virtual ~Messenger() = default;
  virtual int rank() const = 0;
  virtual int world() const = 0;

  // Both return at once; the memory must stay as it is until wait() has returned.
  Ticket send(int peer, const void* data, std::size_t bytes);
  Ticket receive(int peer, void* data, std::size_t bytes);
  // Returns when a sent message's memory may be reused, or a received one is there; sets the ticket empty.
  // Throws CommError when it cannot be, at the operation's deadline at the latest.
  void wait(Ticket& ticket);

  // What happened since the last call.
  Traffic take_traffic();

 protected:
  virtual int start_send(int peer, const void* data, std::size_t bytes) = 0;
  virtual int start_receive(int peer, void* data, std::size_t bytes) = 0;
  virtual void finish(const Ticket& ticket) = 0;

 private:
  Traffic traffic_;
  WaitClock waits_;
};

}  // namespace lockstep::comm
