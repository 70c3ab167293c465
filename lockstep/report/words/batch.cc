// What batch size did: too small, the knee, and what it means for the number of updates.
#include <fmt/format.h>

#include <cmath>

#include "lockstep/report/model/cell_figures.h"
#include "lockstep/report/model/knee.h"
#include "lockstep/report/model/scaling.h"
#include "lockstep/report/words/words.h"

namespace lockstep::report {
namespace {

constexpr std::size_t kMostLadders = 2;

std::string of_ladder(const BatchLadder& ladder) {
  return ladder.label.empty() ? "" : " with " + ladder.label;
}

std::vector<Evidence> speeds(const GridCell& small, const GridCell& large) {
  return {evidence("steps.samples_per_second", small, *figure(small, "samples_per_second"), "1/s"),
          evidence("steps.samples_per_second", large, *figure(large, "samples_per_second"), "1/s")};
}

// How much of the growth of the batch came back as throughput: 1 when a step takes the same time for more.
double gain_share(const GridCell& small, const GridCell& large) {
  const double speed =
      figure(large, "samples_per_second")->value / figure(small, "samples_per_second")->value;
  return std::log(speed) /
         std::log(static_cast<double>(large.batch.per_worker) / static_cast<double>(small.batch.per_worker));
}

void add_small_batch(Sentences& sentences, const BatchLadder& ladder) {
  const GridCell &small = *ladder.rungs[0], &large = *ladder.rungs[1];
  if (large.batch.per_worker <= small.batch.per_worker || gain_share(small, large) < kSmallBatchGain) return;
  const auto first = *figure(small, "samples_per_second"), second = *figure(large, "samples_per_second");
  if (clearly_differ(first, second) == false) return;
  const std::vector<Evidence> rests = speeds(small, large);
  sentences.push_back({"batch-too-small",
                       fmt::format("Batch {} per worker is too small{}: {} gives {} times the samples per "
                                   "second, so most of the step "
                                   "at {} is a cost that does not depend on the batch.",
                                   small.batch.per_worker, of_ladder(ladder), large.batch.per_worker,
                                   display_number(second.value / first.value), small.batch.per_worker),
                       rests});
  sentences.push_back(
      {"try-batch",
       fmt::format("Try batch {} or more, and scale the learning rate with warm-up.", large.batch.per_worker),
       rests});
}

void add_knee(Sentences& sentences, const BatchLadder& ladder) {
  if (ladder.knee != nullptr) {
    sentences.push_back(
        {"knee",
         fmt::format("The knee{} is batch {} per worker: the next larger one gains less than {}.",
                     of_ladder(ladder), ladder.knee->batch.per_worker, percent(kLeastGain)),
         {evidence("steps.samples_per_second", *ladder.knee, *figure(*ladder.knee, "samples_per_second"),
                   "1/s")}});
  } else if (ladder.out_of_memory != nullptr) {
    sentences.push_back({"memory-before-knee",
                         fmt::format("Memory ended{} before the knee: {} ran out of memory.",
                                     of_ladder(ladder), ladder.out_of_memory->label),
                         {{"status", ladder.out_of_memory->label, "out_of_memory"}}});
  }
}

// More workers at the same batch each: a larger effective batch and fewer updates an epoch.
void add_updates(Sentences& sentences, const ScalingFamily& family) {
  const GridCell &one = *family.steps.front().cell, &many = *family.steps.back().cell;
  const auto before = steps_per_epoch(one), after = steps_per_epoch(many);
  if (!before || !after || family.scaling != predict::Scaling::weak) return;
  if (after->value >= before->value || one.batch.global == many.batch.global) return;
  sentences.push_back(
      {"fewer-updates",
       fmt::format(
           "For {}, the effective batch grows from {} at one worker to {} at {}, and the steps of an epoch "
           "fall "
           "from {} to {}: an epoch makes fewer updates, so the same number of epochs learns less unless the "
           "learning rate follows.",
           family.label, one.batch.global, many.batch.global, many.workers, display_number(before->value),
           display_number(after->value)),
       {evidence("batch.global", one, static_cast<double>(one.batch.global)),
        evidence("batch.global", many, static_cast<double>(many.batch.global)),
        evidence("steps.count / epochs", one, *before), evidence("steps.count / epochs", many, *after)}});
}

}  // namespace

Sentences batch_words(const Subject& subject) {
  Sentences sentences;
  std::size_t told = 0;
  for (const BatchLadder& ladder : batch_ladders(subject.grid)) {
    if (told++ == kMostLadders) break;
    add_small_batch(sentences, ladder);
    add_knee(sentences, ladder);
  }
  told = 0;
  for (const ScalingFamily& family : scaling_families(subject.grid))
    if (told++ < kMostLadders) add_updates(sentences, family);
  return sentences;
}

}  // namespace lockstep::report
