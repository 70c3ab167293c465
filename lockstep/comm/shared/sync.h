// Waiting for a counter in shared memory: spin for a moment, then sleep on a futex; always with an end.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "lockstep/base/clock.h"

namespace lockstep::comm::shared {

// True when `value`, a counter that wraps around, has reached `target`.
inline bool reached(std::uint32_t value, std::uint32_t target) {
  return static_cast<std::int32_t>(value - target) >= 0;
}

// Sets the counter and wakes whoever sleeps on it.
void publish(std::atomic<std::uint32_t>& counter, std::atomic<std::uint32_t>& sleepers, std::uint32_t value);
void wake_all(std::atomic<std::uint32_t>& counter);

class Waiter {
 public:
  // `spins`: how often to look before sleeping; fewer where ranks share cores. `give_up` is called about
  // every 20 ms while waiting and throws to end the wait.
  Waiter(int spins, std::function<void()> give_up) : spins_(spins), give_up_(std::move(give_up)) {}

  // Returns when the counter has reached the target. Cheap when it already has.
  void wait(std::atomic<std::uint32_t>& counter, std::atomic<std::uint32_t>& sleepers,
            std::uint32_t target) const {
    if (reached(counter.load(std::memory_order_acquire), target)) return;
    wait_slowly(counter, sleepers, target);
  }
  void set_spins(int spins) { spins_ = spins; }

 private:
  void wait_slowly(std::atomic<std::uint32_t>& counter, std::atomic<std::uint32_t>& sleepers,
                   std::uint32_t target) const;

  int spins_;
  std::function<void()> give_up_;
};

}  // namespace lockstep::comm::shared
