// What an entry in the ledger costs: nanoseconds per add, alone and with other threads adding to the same
// ledger. The design allows a message one microsecond.
#include <fmt/format.h>

#include <thread>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/base/statistics.h"
#include "lockstep/measure/ledger.h"

namespace {

using lockstep::base::median;
using lockstep::base::now;
using lockstep::base::to_seconds;
using lockstep::measure::Collective;
using lockstep::measure::Ledger;
using lockstep::measure::Movement;
using lockstep::measure::Purpose;

constexpr int kAdds = 200'000;
constexpr int kRepeats = 11;

void add_many(Ledger& ledger) {
  const Movement movement{4096, 2, lockstep::base::Nanoseconds(100), lockstep::base::Nanoseconds(10), false};
  for (int i = 0; i < kAdds; ++i)
    ledger.add(Purpose::gradient, Collective::all_reduce, "shm", 4096, movement);
}

// A ledger that already knows other links, as one of a run with several backends does.
void open_links(Ledger& ledger) {
  for (const char* link : {"local", "tcp", "mpi", "shm"})
    ledger.add(Purpose::control, Collective::barrier, link, 0, {});
}

// Wall nanoseconds per add of one thread, while `threads` of them add.
double nanoseconds_per_add(int threads) {
  Ledger ledger;
  open_links(ledger);
  const auto start = now();
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(add_many, std::ref(ledger));
  add_many(ledger);
  for (std::thread& other : others) other.join();
  return to_seconds(now() - start) * 1e9 / kAdds;
}

void report(int threads) {
  std::vector<double> samples;
  for (int i = 0; i < kRepeats; ++i) samples.push_back(nanoseconds_per_add(threads));
  const auto interval = lockstep::base::median_interval_95(samples);
  fmt::print("{:>7} {:>14.1f} {:>14.1f} {:>14.1f}\n", threads, median(samples), interval->low,
             interval->high);
}

}  // namespace

int main() {
  fmt::print("{:>7} {:>14} {:>14} {:>14}\n", "threads", "ns per add", "95 % low", "high");
  for (const int threads : {1, 2, 4}) report(threads);
}
