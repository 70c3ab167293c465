#include "lockstep/comm/shared/sync.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

#include "lockstep/comm/shared/cpu_pause.h"

namespace lockstep::comm::shared {
namespace {

constexpr long kSleepNanoseconds = 20'000'000;

std::uint32_t* word(std::atomic<std::uint32_t>& counter) {
  static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));
  return reinterpret_cast<std::uint32_t*>(&counter);
}

// Sleeps until the counter changes from `seen`, somebody wakes us, or a short while has passed.
void sleep_on(std::atomic<std::uint32_t>& counter, std::uint32_t seen) {
  const timespec limit{0, kSleepNanoseconds};
  ::syscall(SYS_futex, word(counter), FUTEX_WAIT, seen, &limit, nullptr, 0);
}

}  // namespace

void publish(std::atomic<std::uint32_t>& counter, std::atomic<std::uint32_t>& sleepers, std::uint32_t value) {
  // Sequentially consistent on both sides: either we see the sleeper, or it sees the new value before it
  // sleeps.
  counter.exchange(value, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) > 0) wake_all(counter);
}

void wake_all(std::atomic<std::uint32_t>& counter) {
  ::syscall(SYS_futex, word(counter), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Waiter::wait_slowly(std::atomic<std::uint32_t>& counter, std::atomic<std::uint32_t>& sleepers,
                         std::uint32_t target) const {
  for (int spin = 0; spin < spins_; ++spin) {
    cpu_pause();
    if (reached(counter.load(std::memory_order_acquire), target)) return;
  }
  for (;;) {
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    const std::uint32_t seen = counter.load(std::memory_order_seq_cst);
    if (!reached(seen, target)) sleep_on(counter, seen);
    sleepers.fetch_sub(1, std::memory_order_seq_cst);
    if (reached(counter.load(std::memory_order_acquire), target)) return;
    give_up_();
  }
}

}  // namespace lockstep::comm::shared
