// What a larger effective batch means for the number of updates of an epoch.
#include <fmt/format.h>

#include <set>

#include "lockstep/report/model/cell_figures.h"
#include "lockstep/report/model/scaling.h"
#include "lockstep/report/words/words.h"

namespace lockstep::report {
namespace {

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

Sentences update_words(const Subject& subject) {
  Sentences sentences;
  std::set<bool> told;  // whether the learning rate follows: once for each
  for (const ScalingFamily& family : scaling_families(subject.grid)) {
    if (told.insert(rate_follows(*family.steps.back().cell)).second) add_updates(sentences, family);
  }
  return sentences;
}

}  // namespace lockstep::report
