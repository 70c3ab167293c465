#include "lockstep/device/arithmetic_peak.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "lockstep/base/clock.h"
#include "lockstep/device/arithmetic_chains.h"

namespace lockstep::device {
namespace {

constexpr int kTries = 4;
constexpr long kRounds = 500'000;  // one to two milliseconds

// Runs the chains on all threads at once; the seconds that the slowest took.
double seconds_on(int threads, double (*chains)(long)) {
  std::atomic<int> waiting = threads;
  std::atomic<double> slowest = 0;
  std::atomic<double> result = 0;  // keeps the work from being left out
  const auto work = [&] {
    for (--waiting; waiting > 0;) std::this_thread::yield();
    const base::TimePoint began = base::now();
    result = chains(kRounds);
    const double seconds = base::to_seconds(base::now() - began);
    for (double seen = slowest; seen < seconds && !slowest.compare_exchange_weak(seen, seconds);) {
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  return slowest;
}

}  // namespace

double arithmetic_peak(int threads, int value_bytes) {
  double best = 0;
  for (const ArithmeticChains& chains : usable_chains()) {
    const double per_round = 2.0 * kChains * chains.vector_bytes / value_bytes;
    for (int attempt = 0; attempt < kTries; ++attempt) {
      const double seconds = seconds_on(threads, value_bytes == 8 ? chains.run_f64 : chains.run_f32);
      best = std::max(best, threads * per_round * kRounds / seconds);
    }
  }
  return best;
}

}  // namespace lockstep::device
