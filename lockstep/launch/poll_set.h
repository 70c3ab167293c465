// One wait for many descriptors, each with what to do when it has news.
#pragma once

#include <poll.h>

#include <functional>
#include <vector>

#include "lockstep/base/clock.h"

namespace lockstep::launch {

class PollSet {
 public:
  // Called with the events that came.
  using Action = std::function<void(short events)>;

  // A negative descriptor is not watched.
  void watch(int fd, short events, Action action);
  // Waits until one has news or the deadline passes, and acts on all that have.
  void wait(base::Deadline deadline);

 private:
  std::vector<pollfd> entries_;
  std::vector<Action> actions_;
};

// A descriptor through which another thread ends a wait.
class WakeUp {
 public:
  WakeUp();
  ~WakeUp();
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;

  void notify() const;
  void watch(PollSet& polls) const;

 private:
  int fd_;
};

}  // namespace lockstep::launch
