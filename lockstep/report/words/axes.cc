// What the other axes did to a step and to its bytes, and what the whole job took.
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/text.h"
#include "lockstep/report/model/scaling.h"
#include "lockstep/report/words/words.h"

namespace lockstep::report {
namespace {

bool is_told_elsewhere(const std::string& axis) {
  return axis == "workers" || axis == "batch_size" || axis == "global_batch" || axis == "machine";
}

bool equal_but(const GridCell& one, const GridCell& other, const std::string& axis) {
  return std::all_of(one.point.begin(), one.point.end(), [&](const lab::AxisPoint& at) {
    return at.axis == axis || other.at(at.axis) == at.value;
  });
}

// The cells at both ends of an axis that are equal in all else, with the most workers.
std::pair<const GridCell*, const GridCell*> ends_of(const Grid& grid, const GridAxis& axis) {
  std::pair<const GridCell*, const GridCell*> ends = {nullptr, nullptr};
  for (const GridCell& first : grid.cells)
    for (const GridCell& last : grid.cells) {
      if (first.runs.empty() || last.runs.empty() || !equal_but(first, last, axis.name)) continue;
      if (first.at(axis.name) != axis.values.front() || last.at(axis.name) != axis.values.back()) continue;
      if (ends.first == nullptr || first.workers > ends.first->workers) ends = {&first, &last};
    }
  return ends;
}

struct Told {
  std::string_view figure;
  const char* words;
  const char* field;
  const char* unit;
};

constexpr Told kTold[] = {{"compute_seconds", "computation a step", "forward + backward + optimizer", "s"},
                          {"exposed_seconds", "exposed communication a step", "comm.exposed_seconds", "s"},
                          {"payload_bytes", "payload of the run", "ledger[].payload_bytes", "B"},
                          {"train_loss", "final training loss", "epochs[last].train_loss", ""},
                          {"val_accuracy", "validation accuracy", "epochs[last].val_accuracy", ""}};

void add_axis(Sentences& sentences, const Grid& grid, const GridAxis& axis) {
  const auto [first, last] = ends_of(grid, axis);
  if (first == nullptr) return;
  std::vector<std::string> changes;
  std::vector<Evidence> rests;
  for (const Told& told : kTold) {
    const auto before = figure(*first, told.figure), after = figure(*last, told.figure);
    if (!before || !after) continue;
    changes.push_back(fmt::format("{} from {} to {}{}", told.words, with_unit(before->value, told.unit),
                                  with_unit(after->value, told.unit),
                                  clearly_differ(*before, *after) == false ? " (within the noise)" : ""));
    rests.push_back(evidence(told.field, *first, *before, told.unit));
    rests.push_back(evidence(told.field, *last, *after, told.unit));
  }
  if (changes.empty()) return;
  sentences.push_back(
      {"axis-" + axis.name,
       fmt::format("From {} to {}: {}.", first->label, last->label, base::join(changes, ", ")), rests});
}

// Launch, loading and validation.
double fixed_seconds(const GridCell& cell) {
  double seconds = 0;
  for (const char* part : {"launch_seconds", "load_seconds", "validate_seconds"})
    if (const auto number = figure(cell, part)) seconds += number->value;
  return seconds;
}

void add_job(Sentences& sentences, const ScalingFamily& family) {
  const GridCell &one = *family.steps.front().cell, &many = *family.steps.back().cell;
  const auto before = figure(one, "total_seconds"), after = figure(many, "total_seconds");
  if (!before || !after || before->value <= 0 || after->value <= 0) return;
  const bool noisy = clearly_differ(*before, *after) == false;
  const char* outcome = noisy                          ? "a difference smaller than the noise"
                        : after->value < before->value ? "sooner"
                                                       : "not sooner";
  sentences.push_back(
      {noisy                          ? "job-noise"
       : after->value < before->value ? "job-sooner"
                                      : "job-not-sooner",
       fmt::format("The whole job takes {} with {} and {} with {}: {}. Launch, loading and validation, which "
                   "do not shrink "
                   "with workers, are {} of the first and {} of the second.",
                   with_unit(before->value, "s"), one.label, with_unit(after->value, "s"), many.label,
                   outcome, percent(fixed_seconds(one) / before->value),
                   percent(fixed_seconds(many) / after->value)),
       {evidence("wall_seconds.total", one, *before, "s"), evidence("wall_seconds.total", many, *after, "s"),
        evidence("wall_seconds.launch + load + validate", one, fixed_seconds(one), "s"),
        evidence("wall_seconds.launch + load + validate", many, fixed_seconds(many), "s")}});
}

}  // namespace

Sentences axis_words(const Subject& subject) {
  Sentences sentences;
  const std::vector<ScalingFamily> families = scaling_families(subject.grid);
  if (!families.empty()) add_job(sentences, families.front());
  for (const GridAxis& axis : subject.grid.axes)
    if (axis.values.size() > 1 && !is_told_elsewhere(axis.name)) add_axis(sentences, subject.grid, axis);
  return sentences;
}

}  // namespace lockstep::report
