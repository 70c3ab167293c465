// Steps with a heavy tail: a few long ones, of which the median knows nothing and the mean much.
#include <fmt/format.h>

#include "lockstep/base/counted.h"
#include "lockstep/report/words/words.h"

namespace lockstep::report {
namespace {

std::optional<double> mean_step(const record::RunRecord& run) {
  return run.steps.seconds ? std::optional(run.steps.seconds->mean) : std::nullopt;
}

struct Tail {
  const GridCell* cell = nullptr;
  double median = 0, mean = 0;
  double ratio() const { return mean / median; }
};

std::vector<Tail> tails_of(const Grid& grid) {
  std::vector<Tail> tails;
  for (const GridCell& cell : grid.cells) {
    const auto median = figure(cell, "step_seconds"), mean = figure(cell, mean_step);
    if (median && mean && median->value > 0 && mean->value > kHeavyTail * median->value)
      tails.push_back({&cell, median->value, mean->value});
  }
  return tails;
}

}  // namespace

Sentences tail_words(const Subject& subject) {
  const std::vector<Tail> tails = tails_of(subject.grid);
  if (tails.empty()) return {};
  const Tail* worst = &tails.front();
  std::vector<Evidence> rests;
  for (const Tail& tail : tails) {
    if (tail.ratio() > worst->ratio()) worst = &tail;
    rests.push_back(evidence("steps.seconds.median", *tail.cell, tail.median, "s"));
    rests.push_back(evidence("steps.seconds.mean", *tail.cell, tail.mean, "s"));
  }
  const std::string more =
      tails.size() == 1 ? ""
                        : fmt::format(" The same holds in {}.", base::counted(tails.size() - 1, "more cell"));
  return {{"heavy-tail",
           fmt::format("With {}, a few steps took far longer than the others: the mean step ({}) is {} times "
                       "the median ({}). Samples per second follow the mean, so that they may say otherwise "
                       "than the step, a median.{}",
                       worst->cell->label, with_unit(worst->mean, "s"), display_number(worst->ratio()),
                       with_unit(worst->median, "s"), more),
           rests}};
}

}  // namespace lockstep::report
