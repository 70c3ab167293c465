// Polling without burning a core: yields at first, so that short waits end at once, and sleeps later.
#pragma once

#include <sched.h>

#include <chrono>
#include <thread>

namespace lockstep::comm {

class Pause {
 public:
  void operator()() {
    if (++rounds_ < kYields)
      ::sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(rounds_ < kShortSleeps ? 20 : 200));
  }

 private:
  static constexpr int kYields = 500;
  static constexpr int kShortSleeps = 2000;
  int rounds_ = 0;
};

}  // namespace lockstep::comm
