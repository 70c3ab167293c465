// A queue runs what is put on it in order. On the host it is a communication thread, on a GPU a stream; work
// on one queue can be ordered after work on another without the caller waiting for either.
#pragma once

#include "lockstep/base/clock.h"
#include "lockstep/comm/work.h"

namespace lockstep::comm {

class Queue {
 public:
  virtual ~Queue() = default;
  // A handle that is complete when everything put on the queue so far is.
  virtual Work mark() = 0;
  // What is put on this queue from now on starts only when `work` (of any queue of the same kind) is
  // complete.
  virtual void wait_for(const Work& work) = 0;
  // Holds the queue for a while: how tests put a delay into a link.
  virtual void delay(base::Nanoseconds duration) = 0;
  // Returns when the queue is empty.
  virtual void drain() = 0;
};

}  // namespace lockstep::comm
