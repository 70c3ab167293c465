// What measuring costs: nanoseconds for a span (enter and leave), an entry in the memory account, and an
// entry in the ledger with its listener. A step has a few dozen of each.
#include <fmt/format.h>

#include <functional>
#include <string_view>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/base/statistics.h"
#include "lockstep/measure/memory_account.h"
#include "lockstep/measure/step_timer.h"
#include "lockstep/measure/trace.h"

namespace {

using namespace lockstep;

constexpr int kTimes = 50'000;
constexpr int kRepeats = 11;

// A sample is the time of `times(n)` over n.
void report(std::string_view what, const std::function<void(int)>& times) {
  std::vector<double> samples;
  for (int i = 0; i < kRepeats; ++i) {
    const auto start = base::now();
    times(kTimes);
    samples.push_back(base::to_seconds(base::now() - start) * 1e9 / kTimes);
  }
  const auto interval = base::median_interval_95(samples);
  fmt::print("{:<36} {:>8.1f} {:>10.1f} {:>10.1f}\n", what, base::median(samples), interval->low,
             interval->high);
}

void report_spans(std::string_view what, measure::StepTimer& timer) {
  report(what, [&](int times) {
    for (int i = 0; i < times; ++i) const measure::SpanScope scope(timer, measure::Span::forward);
  });
}

void report_account() {
  measure::MemoryAccount account(1u << 30);
  report("memory account: add and remove", [&](int times) {
    for (int i = 0; i < times; ++i) {
      account.add(measure::Use::activations, 4096);
      account.remove(measure::Use::activations, 4096);
    }
  });
}

void report_ledger(std::string_view what, measure::Ledger& ledger) {
  report(what, [&](int times) {
    for (int i = 0; i < times; ++i)
      ledger.add(measure::Purpose::gradient, measure::Collective::all_reduce, "shm", 4096, {});
  });
}

measure::TraceRecorder recorder_of_everything() {
  measure::TraceOptions options;
  options.most_slices = 4 * kTimes * kRepeats;
  return measure::TraceRecorder(options);
}

}  // namespace

int main() {
  fmt::print("{:<36} {:>8} {:>10} {:>10}\n", "what", "ns", "95 % low", "high");
  report("reading the clock", [](int times) {
    for (int i = 0; i < times; ++i) (void)base::now();
  });
  auto recorder = recorder_of_everything();
  report_spans("span", *measure::host_step_timer());
  report_spans("span, traced", *measure::host_step_timer(&recorder));
  report_spans("span of the bare timer", *measure::bare_step_timer());
  report_account();
  measure::Ledger ledger;
  report_ledger("ledger entry", ledger);
  report("ledger totals", [&](int times) {
    for (int i = 0; i < times; ++i) (void)ledger.totals();
  });
  ledger.listen(recorder);
  report_ledger("ledger entry, traced", ledger);
}
