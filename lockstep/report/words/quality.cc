// What was learnt: the loss against workers, averaging.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "lockstep/report/model/averaging.h"
#include "lockstep/report/model/last_epoch.h"
#include "lockstep/report/words/divergence.h"

namespace lockstep::report {
namespace {

struct LossChange {
  std::string finding;
  std::string ending;
  bool equal = false;
};

LossChange loss_change(const Number& before, const Number& after) {
  if (display_number(before.value) == display_number(after.value)) return {"same-loss", "", true};
  const auto differ = clearly_differ(before, after);
  if (differ == false) return {"loss-noise", ": a difference smaller than the noise"};
  const double change = after.value / before.value - 1;
  return {std::abs(change) < 0.02 ? "same-loss"
          : change > 0            ? "higher-loss"
                                  : "lower-loss",
          std::string(hedge_of(before, after))};
}

// Final losses at the fewest and the most workers, where neither diverged.
void add_loss_by_workers(Sentences& sentences, const Subject& subject) {
  const GridCell *few = nullptr, *many = nullptr;
  for (const GridCell& one : subject.grid.cells)
    for (const GridCell& other : subject.grid.cells) {
      const bool same = std::all_of(one.point.begin(), one.point.end(), [&](const lab::AxisPoint& at) {
        return at.axis == "workers" || other.at(at.axis) == at.value;
      });
      if (!same || one.workers >= other.workers || !figure(one, "train_loss") || !figure(other, "train_loss"))
        continue;
      if (divergence_of(subject.grid, one) || divergence_of(subject.grid, other)) continue;
      if (few != nullptr && other.workers - one.workers <= many->workers - few->workers) continue;
      few = &one;
      many = &other;
    }
  if (few == nullptr) return;
  const Number before = *figure(*few, "train_loss"), after = *figure(*many, "train_loss");
  const LossChange change = loss_change(before, after);
  const std::string note = epochs_note(std::array<const GridCell*, 2>{few, many}, "train_loss");
  sentences.push_back({change.finding,
                       change.equal
                           ? fmt::format("The final training loss{} with {} and with {} is the same: {}.",
                                         note, few->label, many->label, display_number(before.value))
                           : fmt::format("The final training loss{} is {} with {} and {} with {}{}.", note,
                                         display_number(before.value), few->label,
                                         display_number(after.value), many->label, change.ending),
                       {evidence(epoch_field(*few, "train_loss"), *few, before),
                        evidence(epoch_field(*many, "train_loss"), *many, after)}});
}

// localsgd at the most workers: what averaging did to the last epoch's validation loss.
void add_averaging(Sentences& sentences, const Subject& subject) {
  const GridCell* most = nullptr;
  for (const GridCell& cell : subject.grid.cells)
    if (cell.workers > 1 && averaging_of(cell, AveragedEpoch::last) &&
        (most == nullptr || cell.workers > most->workers))
      most = &cell;
  if (most == nullptr) return;
  const Averaging averaging = *averaging_of(*most, AveragedEpoch::last);
  if (!averaging.mean_loss || !averaging.loss_after) return;
  const Number before = *averaging.mean_loss, after = *averaging.loss_after;
  if (!std::isfinite(before.value) || !std::isfinite(after.value)) return;
  const double change = after.value / before.value - 1;
  const bool same = std::abs(change) < 0.02;
  sentences.push_back(
      {same         ? "averaging-same"
       : change < 0 ? "averaging-helps"
                    : "averaging-hurts",
       fmt::format("With {}, averaging the weights {} the validation loss of epoch {:.0f} {} {} to {}.",
                   most->label,
                   same         ? "left"
                   : change < 0 ? "brought"
                                : "raised",
                   averaging.epoch, same ? "about as it was: from" : "from", display_number(before.value),
                   display_number(after.value)),
       {evidence(fmt::format("epochs[{}].before_averaging.val_loss", averaging.place), *most, before),
        evidence(fmt::format("epochs[{}].val_loss", averaging.place), *most, after)}});
}

}  // namespace

Sentences quality_words(const Subject& subject) {
  Sentences sentences = divergence_words(subject);
  add_loss_by_workers(sentences, subject);
  // The reason before the comparisons, which are many: who asks why is answered within a few sentences.
  append(sentences, update_words(subject));
  append(sentences, comparison_words(subject));
  add_averaging(sentences, subject);
  return sentences;
}

}  // namespace lockstep::report
