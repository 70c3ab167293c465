// Tells waiting for a late peer from waiting for bytes to travel, without sending anything for it.
//
// A rank that comes late delays, on every other rank, one receive: the one that its first message hangs on;
// what follows then arrives at the pace of the link. So an operation's peer wait is its longest wait for one
// message, less what such a message takes when nobody is late. That is known from the operation's other waits
// (time per byte), and for an operation of a single message from the shortest real wait seen before.
#pragma once

#include <cstddef>

#include "lockstep/base/clock.h"

namespace lockstep::comm {

class WaitClock {
 public:
  void add(base::Nanoseconds wait, std::size_t bytes);
  // Of the operation that ends here.
  base::Nanoseconds take_peer_wait();

 private:
  base::Nanoseconds usual_wait() const;

  base::Nanoseconds longest_{0};
  std::size_t longest_bytes_ = 0;
  base::Nanoseconds total_{0};
  std::size_t total_bytes_ = 0;
  base::Nanoseconds shortest_real_ = base::Nanoseconds::max();  // over all operations
};

}  // namespace lockstep::comm
