// Losses that are those of guessing: nothing learnt, or too few steps to tell.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lockstep/record/catalogue_data.h"
#include "lockstep/report/model/grid_axes.h"
#include "lockstep/report/model/last_epoch.h"
#include "lockstep/report/words/divergence.h"

namespace lockstep::report {
namespace {

// Of the data set of a classification, where it is one whose classes are known.
std::optional<double> classes_of(const GridCell& cell) {
  const record::RunRecord& run = cell.runs.front();
  const std::string name = field_text(run, "data"), loss = field_text(run, "loss");
  if (!loss.empty() && loss != "cross-entropy") return std::nullopt;
  for (const record::DataEntry& entry : record::data_entries())
    if (entry.name == name && entry.classes > 1) return static_cast<double>(entry.classes);
  return std::nullopt;
}

bool has_loss_of_guessing(const Grid& grid, const GridCell& cell) {
  if (cell.runs.empty() || divergence_of(grid, cell)) return false;
  const auto loss = figure(cell, "train_loss");
  const auto classes = classes_of(cell);
  // A few steps teach nobody anything.
  return loss && classes && loss->value >= kGuessing * std::log(*classes) &&
         cell.runs.front().steps.count >= kFewSteps;
}

// The higher of the two accuracies that a cell may have.
std::optional<double> best_accuracy(const GridCell& cell) {
  const auto train = figure(cell, "train_accuracy"), validation = figure(cell, "val_accuracy");
  if (!train && !validation) return std::nullopt;
  return std::max(train ? train->value : 0, validation ? validation->value : 0);
}

// Whether a whole epoch was gone through, and its accuracy is no better than chance.
bool learnt_nothing(const GridCell& cell) {
  const double chance = 1 / *classes_of(cell);
  return has_finished_epoch(cell) && best_accuracy(cell).value_or(0) <= kBetterThanGuessing * chance;
}

std::string cells_text(const std::vector<const GridCell*>& cells) {
  const std::size_t more = cells.size() - 1;
  return cells.front()->label +
         (more == 0 ? "" : fmt::format(" and {} more cell{}", more, more == 1 ? "" : "s"));
}

std::string accuracy_text(const GridCell& cell) {
  const auto accuracy = best_accuracy(cell);
  return accuracy ? fmt::format("; its accuracy is {}, that of guessing {}", percent(*accuracy),
                                percent(1 / *classes_of(cell)))
                  : "";
}

void add_guessing(Sentences& sentences, const std::vector<const GridCell*>& cells, bool nothing) {
  if (cells.empty()) return;
  const GridCell& first = *cells.front();
  const std::string loss = display_number(figure(first, "train_loss")->value);
  const std::string guess = display_number(std::log(*classes_of(first)));
  Sentence sentence{nothing ? "did-not-learn" : "hardly-learnt", "", {}};
  for (const GridCell* cell : cells)
    sentence.rests_on.push_back(
        evidence(epoch_field(*cell, "train_loss"), *cell, *figure(*cell, "train_loss")));
  const std::int64_t steps = first.runs.front().steps.count;
  sentence.text =
      nothing
          ? fmt::format("With {} nothing was learnt: the final training loss of {} is that of guessing ({}).",
                        cells_text(cells), loss, guess)
          : fmt::format(
                "With {} training has hardly begun to learn after {} step{}: its loss of {} is near that "
                "of guessing ({}){}.",
                cells_text(cells), steps, steps == 1 ? "" : "s", loss, guess, accuracy_text(first));
  sentences.push_back(std::move(sentence));
}

}  // namespace

bool did_not_learn(const Grid& grid, const GridCell& cell) {
  return has_loss_of_guessing(grid, cell) && learnt_nothing(cell);
}

Sentences guessing_words(const Subject& subject) {
  std::vector<const GridCell*> nothing, hardly;
  for (const GridCell& cell : subject.grid.cells)
    if (has_loss_of_guessing(subject.grid, cell)) (learnt_nothing(cell) ? nothing : hardly).push_back(&cell);
  Sentences sentences;
  add_guessing(sentences, nothing, true);
  add_guessing(sentences, hardly, false);
  return sentences;
}

}  // namespace lockstep::report
