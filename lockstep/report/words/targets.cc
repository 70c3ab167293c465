// When cells reached what was to be reached: a target counts as reached where every run of the cell did.
#include "lockstep/report/model/targets.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/counted.h"
#include "lockstep/report/words/words.h"

namespace lockstep::report {
namespace {

// How a target was met: by all runs of a cell, or by some of them.
struct TargetCells {
  std::size_t measured = 0;
  std::vector<const GridCell*> reached, partly;
};

TargetCells target_cells(const Grid& grid, const lab::Target& target) {
  TargetCells cells;
  for (const GridCell& cell : grid.cells) {
    if (cell.runs.empty()) continue;
    ++cells.measured;
    if (is_reached(cell, target))
      cells.reached.push_back(&cell);
    else if (runs_that_reached(cell, target) > 0)
      cells.partly.push_back(&cell);
  }
  return cells;
}

Evidence partly_evidence(const GridCell& cell, const lab::Target& target) {
  return {"runs that reached " + target_text(target), cell.label, reached_text(cell, target)};
}

// "; with ddp 1 of 5 runs did", and how many more cells there are of that kind.
std::string partly_text(const TargetCells& cells, const lab::Target& target, std::vector<Evidence>& rests) {
  if (cells.partly.empty()) return "";
  for (const GridCell* cell : cells.partly) rests.push_back(partly_evidence(*cell, target));
  const std::size_t more = cells.partly.size() - 1;
  return fmt::format("; with {}, {} runs did{}", cells.partly.front()->label,
                     reached_text(*cells.partly.front(), target),
                     more == 0 ? "" : fmt::format(", and some in {}", base::counted(more, "more cell")));
}

Sentence missed_sentence(const TargetCells& cells, const lab::Target& target) {
  std::vector<Evidence> rests;
  if (cells.partly.empty())
    return {"target-missed", fmt::format("No cell reached {} within its epochs.", target_text(target)), {}};
  const std::string partly = partly_text(cells, target, rests);
  return {"target-partly",
          fmt::format("No cell reached {} in all of its runs{}.", target_text(target), partly), rests};
}

Sentence reached_sentence(const TargetCells& cells, const lab::Target& target) {
  const auto epochs_of = [&](const GridCell* cell) { return epochs_until(*cell, target)->value; };
  const GridCell& first = **std::min_element(
      cells.reached.begin(), cells.reached.end(),
      [&](const GridCell* one, const GridCell* other) { return epochs_of(one) < epochs_of(other); });
  const Number epochs = *epochs_until(first, target);
  const auto seconds = seconds_until(first, target);
  std::vector<Evidence> rests = {evidence("epochs until " + target_text(target), first, epochs)};
  if (seconds) rests.push_back(evidence("target.seconds, or epochs[].seconds summed", first, *seconds, "s"));
  const std::string partly = partly_text(cells, target, rests);
  return {
      "target",
      fmt::format("{} of {} cell{} reached {}{}; the first was {}, after {} epoch{}{}{}.",
                  cells.reached.size(), cells.measured, cells.measured == 1 ? "" : "s", target_text(target),
                  partly.empty() ? "" : " in all runs", first.label, display_number(epochs.value),
                  epochs.value == 1 ? "" : "s",
                  seconds ? fmt::format(" and {} of training", with_unit(seconds->value, "s")) : "", partly),
      rests};
}

}  // namespace

Sentences target_words(const Subject& subject) {
  Sentences sentences;
  for (const lab::Target& target : targets_of(subject.study, subject.grid)) {
    const TargetCells cells = target_cells(subject.grid, target);
    sentences.push_back(cells.reached.empty() ? missed_sentence(cells, target)
                                              : reached_sentence(cells, target));
  }
  return sentences;
}

}  // namespace lockstep::report
