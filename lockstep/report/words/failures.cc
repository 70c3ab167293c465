// Cells of which no run finished: that they failed, and why.
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/counted.h"
#include "lockstep/base/text.h"
#include "lockstep/report/words/words.h"

namespace lockstep::report {
namespace {

constexpr std::size_t kMostFailures = 3;

bool has_no_figures(const GridCell& cell) {
  return cell.runs.empty() && !cell.others.empty();
}

// The kind of failure and the first sentence of its message, where there is one.
std::string reason_of(const record::RunRecord& run) {
  if (!run.failure) return base::spaced(run.status);
  const std::string sentence = first_sentence(run.failure->message);
  // "interrupted after step 94" needs no "interrupted: " before it.
  if (run.failure->kind.empty() || sentence.starts_with(base::spaced(run.failure->kind))) return sentence;
  return fmt::format("{}: {}", base::spaced(run.failure->kind), sentence);
}

Sentence failure_sentence(const GridCell& cell) {
  std::vector<Evidence> rests = {{"status", cell.label, cell.outcome()}};
  std::vector<std::string> reasons;
  for (const record::RunRecord* run : cell.failures()) {
    reasons.push_back(reason_of(*run));
    if (run->failure) rests.push_back({"failure.message", cell.label, run->failure->message});
  }
  return {"failed", fmt::format("With {} no run finished ({}).", cell.label, base::join(reasons, "; ")),
          rests};
}

Sentence more_failures(const std::vector<const GridCell*>& cells) {
  std::vector<Evidence> rests;
  for (const GridCell* cell : cells) rests.push_back({"status", cell->label, cell->outcome()});
  return {"failed-more",
          fmt::format("In {} no run finished either; the table of every cell says why.",
                      base::counted(cells.size(), "more cell")),
          rests};
}

}  // namespace

Sentences failure_words(const Subject& subject) {
  Sentences sentences;
  std::vector<const GridCell*> more;
  for (const GridCell& cell : subject.grid.cells) {
    // What ran out of memory is told with what fitted.
    if (!has_no_figures(cell) || cell.status() == "out_of_memory") continue;
    if (sentences.size() < kMostFailures)
      sentences.push_back(failure_sentence(cell));
    else
      more.push_back(&cell);
  }
  if (!more.empty()) sentences.push_back(more_failures(more));
  return sentences;
}

Sentence no_figures_sentence(const Grid& grid) {
  Sentence sentence{"no-figures", "", {}};
  std::vector<std::string> texts;
  for (const GridCell& cell : grid.cells) {
    if (!has_no_figures(cell)) continue;
    sentence.rests_on.push_back({"status", cell.label, cell.outcome()});
    if (texts.size() < kMostFailures)
      texts.push_back(fmt::format("{} ({})", cell.label, base::spaced(cell.outcome())));
  }
  const std::size_t more = sentence.rests_on.size() - texts.size();
  sentence.text =
      texts.empty()
          ? "The records say nothing further about this; see the tables and charts."
          : fmt::format("There are no figures to answer this with: no run finished with {}{}.",
                        base::join(texts, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
  return sentence;
}

}  // namespace lockstep::report
