// What batch size did: too small, the knee, and what it means for the number of updates.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include "lockstep/base/text.h"
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

// More than a step of equal length for more samples would give: no cost of a step explains it.
bool is_suspect(const GridCell& small, const GridCell& large) {
  const double speed =
      figure(large, "samples_per_second")->value / figure(small, "samples_per_second")->value;
  return speed > kSuspectEfficiency * static_cast<double>(large.batch.per_worker) /
                     static_cast<double>(small.batch.per_worker);
}

Sentence suspect_sentence(const BatchLadder& ladder, const Number& first, const Number& second) {
  const GridCell &small = *ladder.rungs[0], &large = *ladder.rungs[1];
  return {
      "suspect-batch",
      fmt::format("Batch {} per worker measured {} times the samples per second of {}{}, with {} times "
                  "the batch: more than equally long steps would give, so that noise or another load "
                  "slowed the steps at {}. Whether {} is too small cannot be told; more repeats would tell.",
                  large.batch.per_worker, display_number(second.value / first.value), small.batch.per_worker,
                  of_ladder(ladder),
                  display_number(static_cast<double>(large.batch.per_worker) /
                                 static_cast<double>(small.batch.per_worker)),
                  small.batch.per_worker, small.batch.per_worker),
      speeds(small, large)};
}

// The knee where there is one; beyond it a larger batch is not worth trying.
std::string batch_to_try(const BatchLadder& ladder) {
  if (ladder.knee != nullptr) return fmt::format("{}, the knee", ladder.knee->batch.per_worker);
  const std::int64_t next = ladder.rungs[1]->batch.per_worker;
  return ladder.out_of_memory != nullptr ? std::to_string(next) : fmt::format("{} or more", next);
}

void add_small_batch(Sentences& sentences, const BatchLadder& ladder) {
  const GridCell &small = *ladder.rungs[0], &large = *ladder.rungs[1];
  if (ladder.knee == &small || large.batch.per_worker <= small.batch.per_worker) return;
  if (gain_share(small, large) < kSmallBatchGain) return;
  const auto first = *figure(small, "samples_per_second"), second = *figure(large, "samples_per_second");
  if (clearly_differ(first, second) == false) return;
  if (is_suspect(small, large)) return sentences.push_back(suspect_sentence(ladder, first, second));
  const std::vector<Evidence> rests = speeds(small, large);
  sentences.push_back({"batch-too-small",
                       fmt::format("Batch {} per worker is too small{}: {} gives {} times the samples per "
                                   "second, so most of the step at {} is a cost that does not depend on the "
                                   "batch{}.",
                                   small.batch.per_worker, of_ladder(ladder), large.batch.per_worker,
                                   display_number(second.value / first.value), small.batch.per_worker,
                                   hedge_of(first, second)),
                       rests});
  sentences.push_back({"try-batch",
                       fmt::format("Try batch {}{}, and scale the learning rate with warm-up.",
                                   batch_to_try(ladder), of_ladder(ladder)),
                       rests});
}

// Ladders that ended alike, told together.
struct LadderGroup {
  std::vector<std::string> names;
  std::vector<Evidence> rests;
  Hedge hedge;

  void add(const std::string& name, const GridCell& before, const GridCell& after) {
    names.push_back(name);
    for (Evidence& rest : speeds(before, after)) rests.push_back(std::move(rest));
    hedge.add(*figure(before, "samples_per_second"), *figure(after, "samples_per_second"));
  }
  // " with A; B; C and 2 more", nothing where there is but one ladder without a name.
  std::string places() const {
    constexpr std::size_t kMost = 4;
    const std::size_t shown = std::min(kMost, names.size());
    const std::string more = names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : "";
    const std::string text = base::join(std::span(names).first(shown), "; ");
    return text.empty() ? "" : " with " + text + more;
  }
};

void add_knees(Sentences& sentences, const std::vector<BatchLadder>& ladders) {
  std::map<std::int64_t, LadderGroup> groups;  // by the knee's batch
  for (const BatchLadder& ladder : ladders) {
    if (ladder.knee == nullptr) continue;
    const auto next = std::find(ladder.rungs.begin(), ladder.rungs.end(), ladder.knee) + 1;
    groups[ladder.knee->batch.per_worker].add(ladder.label, *ladder.knee, **next);
  }
  for (const auto& [batch, group] : groups)
    sentences.push_back(
        {"knee",
         fmt::format("The knee is batch {} per worker{}: the next larger one gains less than {}{}.", batch,
                     group.places(), percent(kLeastGain), group.hedge.text()),
         group.rests});
}

// Ladders that ended without a knee: every larger batch that was tried paid.
void add_still_paying(Sentences& sentences, const std::vector<BatchLadder>& ladders) {
  LadderGroup group;
  for (const BatchLadder& ladder : ladders) {
    if (ladder.knee != nullptr || ladder.out_of_memory != nullptr) continue;
    const GridCell &before = **(ladder.rungs.end() - 2), &last = *ladder.rungs.back();
    const double gain =
        figure(last, "samples_per_second")->value / figure(before, "samples_per_second")->value;
    group.add(fmt::format("{}batch {} ({} times {})", ladder.label.empty() ? "" : ladder.label + ", ",
                          last.batch.per_worker, display_number(gain), before.batch.per_worker),
              before, last);
  }
  if (!group.names.empty())
    sentences.push_back({"no-knee",
                         fmt::format("The largest batch per worker still paid{}{}: no knee.", group.places(),
                                     group.hedge.text()),
                         group.rests});
}

void add_memory_ends(Sentences& sentences, const std::vector<BatchLadder>& ladders) {
  for (const BatchLadder& ladder : ladders)
    if (ladder.knee == nullptr && ladder.out_of_memory != nullptr)
      sentences.push_back({"memory-before-knee",
                           fmt::format("Memory ended{} before the knee: {} ran out of memory.",
                                       of_ladder(ladder), ladder.out_of_memory->label),
                           {{"status", ladder.out_of_memory->label, "out_of_memory"}}});
}

bool is_oversubscribed_ladder(const BatchLadder& ladder) {
  return std::any_of(ladder.rungs.begin(), ladder.rungs.end(),
                     [](const GridCell* cell) { return cell->oversubscribed; });
}

bool rate_follows(const GridCell& cell) {
  const auto& spec = cell.runs.front().spec;
  return spec.is_object() && spec.value("learning_rate_scaling", "none") == "linear";
}

// What the learning rate did while the batch grew.
std::string rate_words(const GridCell& many) {
  return rate_follows(many)
             ? "the learning rate follows here (linear scaling), so that each update goes further"
             : "the same number of epochs learns less unless the learning rate follows, which it does "
               "not here";
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
           "fall from {} to {}: an epoch makes fewer updates; {}.",
           family.label, one.batch.global, many.batch.global, many.workers, display_number(before->value),
           display_number(after->value), rate_words(many)),
       {evidence("batch.global", one, static_cast<double>(one.batch.global)),
        evidence("batch.global", many, static_cast<double>(many.batch.global)),
        evidence("steps.count / epochs", one, *before), evidence("steps.count / epochs", many, *after)}});
}

}  // namespace

Sentences batch_words(const Subject& subject) {
  Sentences sentences;
  std::vector<BatchLadder> ladders = batch_ladders(subject.grid);
  // Workers that take turns say little about batches: they are told only where there are no others.
  if (!std::all_of(ladders.begin(), ladders.end(), is_oversubscribed_ladder))
    std::erase_if(ladders, is_oversubscribed_ladder);
  add_knees(sentences, ladders);
  add_memory_ends(sentences, ladders);
  add_still_paying(sentences, ladders);
  if (ladders.size() > kMostLadders) ladders.resize(kMostLadders);
  for (const BatchLadder& ladder : ladders) add_small_batch(sentences, ladder);
  return sentences;
}

Sentences update_words(const Subject& subject) {
  Sentences sentences;
  std::set<bool> told;  // whether the learning rate follows: once for each
  for (const ScalingFamily& family : scaling_families(subject.grid)) {
    if (told.insert(rate_follows(*family.steps.back().cell)).second) add_updates(sentences, family);
  }
  return sentences;
}

}  // namespace lockstep::report
