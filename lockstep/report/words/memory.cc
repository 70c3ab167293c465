// What fitted into memory, what did not, and what the highest peak consists of.
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/text.h"
#include "lockstep/report/model/cell_figures.h"
#include "lockstep/report/model/grid_axes.h"
#include "lockstep/report/words/words.h"

namespace lockstep::report {
namespace {

constexpr std::size_t kMostMemoryCells = 5;

std::vector<const GridCell*> cells_with(const Grid& grid, const std::string& status) {
  std::vector<const GridCell*> cells;
  for (const GridCell& cell : grid.cells)
    if (cell.status() == status) cells.push_back(&cell);
  return cells;
}

// The texts of the first few, and how many more there are.
std::string few_of(const std::vector<const GridCell*>& cells, std::string (*text)(const GridCell&)) {
  std::vector<std::string> shown;
  for (const GridCell* cell : cells)
    if (shown.size() < kMostMemoryCells) shown.push_back(text(*cell));
  const std::string more =
      cells.size() > kMostMemoryCells ? fmt::format("; {} more", cells.size() - kMostMemoryCells) : "";
  return base::join(shown, "; ") + more;
}

std::string needed_text(const GridCell& cell) {
  const auto needed = needed_bytes(cell), cap = cap_of_failure(cell);
  std::string text = cell.label;
  if (needed) text += fmt::format(" (a step needs about {}", with_unit(*needed, "B"));
  if (cap) text += fmt::format("{}the cap is {}", needed ? ", " : " (", with_unit(*cap, "B"));
  return needed || cap ? text + ")" : text;
}

std::string peak_text(const GridCell& cell) {
  const auto peak = figure(cell, "peak_bytes"), cap = memory_cap(cell);
  if (!peak) return cell.label;
  return fmt::format("{} ({} a worker{})", cell.label, with_unit(peak->value, "B"),
                     cap ? " of " + with_unit(cap->value, "B") : "");
}

void add_failure_evidence(std::vector<Evidence>& rests, const GridCell& cell) {
  rests.push_back({"status", cell.label, "out_of_memory"});
  if (const auto needed = needed_bytes(cell))
    rests.push_back(evidence("failure.message: needs about", cell, *needed, "B"));
  if (const auto cap = cap_of_failure(cell)) rests.push_back(evidence("spec.device_memory", cell, *cap, "B"));
}

// The nearest to what failed come first: a cell that did more work than it proves more.
std::vector<const GridCell*> fitted_cells(const Grid& grid, const GridCell& failed) {
  std::vector<const GridCell*> cells = cells_with(grid, "finished");
  const auto distance = [&](const GridCell* cell) {
    return std::abs(cell->batch.global - failed.batch.global) + std::abs(cell->workers - failed.workers);
  };
  std::stable_sort(cells.begin(), cells.end(), [&](const GridCell* one, const GridCell* other) {
    return distance(one) < distance(other);
  });
  return cells;
}

// Cures that no cell which fitted has tried; nor, where a cure is either taken or not, one that did not fit.
std::vector<std::string> untried(const std::vector<const GridCell*>& fitted,
                                 const std::vector<const GridCell*>& ended) {
  const GridCell& failed = *ended.front();
  const auto fitted_with = [&](const auto& has) { return std::any_of(fitted.begin(), fitted.end(), has); };
  const auto tried = [&](const auto& has) {
    return fitted_with(has) || std::any_of(ended.begin(), ended.end(), has);
  };
  const auto text = [](const GridCell* cell, const char* field) {
    const record::RunRecord* run = cell->any();
    return run == nullptr ? std::string() : field_text(*run, field);
  };
  std::vector<std::string> cures;
  if (!tried([&](const auto* cell) { return text(cell, "strategy").starts_with("zero"); }))
    cures.emplace_back("zero1 or zero3");
  if (!tried([&](const auto* cell) { return text(cell, "recompute") == "true"; }))
    cures.emplace_back("recompute");
  if (!tried([&](const auto* cell) { return std::atoi(text(cell, "accumulate").c_str()) > 1; }))
    cures.emplace_back("accumulate");
  if (!fitted_with([&](const auto* cell) {
        return cell->workers == failed.workers && cell->batch.global < failed.batch.global;
      }))
    cures.emplace_back("a smaller batch per worker");
  if (!fitted_with([&](const auto* cell) { return cell->workers > failed.workers; }))
    cures.emplace_back("more workers");
  return cures;
}

void add_out_of_memory(Sentences& sentences, const Grid& grid) {
  const std::vector<const GridCell*> ended = cells_with(grid, "out_of_memory");
  if (ended.empty()) return;
  const std::vector<const GridCell*> fitted = fitted_cells(grid, *ended.front());
  std::vector<Evidence> rests, fitted_rests;
  for (const GridCell* cell : ended) add_failure_evidence(rests, *cell);
  sentences.push_back(
      {"out-of-memory", fmt::format("Out of memory: {}.", few_of(ended, needed_text)), rests});
  for (const GridCell* cell : fitted)
    if (const auto peak = figure(*cell, "peak_bytes"))
      fitted_rests.push_back(evidence("memory.peak_bytes", *cell, *peak, "B"));
  if (fitted.empty())
    sentences.push_back({"none-fitted", "No cell fitted.", rests});
  else
    sentences.push_back({"fitted", fmt::format("These fitted: {}.", few_of(fitted, peak_text)),
                         fitted_rests.empty() ? rests : fitted_rests});
  const std::vector<std::string> cures = untried(fitted, ended);
  if (!cures.empty())
    sentences.push_back(
        {"try-memory",
         fmt::format("{}: {}.", fitted.empty() ? "Try" : "Not tried here", base::join(cures, ", ")), rests});
}

void add_largest_use(Sentences& sentences, const Grid& grid) {
  const GridCell* most = nullptr;
  for (const GridCell& cell : grid.cells) {
    const auto peak = figure(cell, "peak_bytes");
    if (peak && (most == nullptr || peak->value > figure(*most, "peak_bytes")->value)) most = &cell;
  }
  if (most == nullptr) return;
  std::string_view largest;
  double bytes = 0;
  for (const std::string_view use : kMemoryUses)
    if (const auto number = memory_use(*most, use); number && number->value > bytes) {
      bytes = number->value;
      largest = use;
    }
  const Number peak = *figure(*most, "peak_bytes");
  if (largest.empty()) return;
  sentences.push_back(
      {fmt::format("memory-{}", largest),
       fmt::format("The highest peak is {} with {}; {} of it is {} ({}).", with_unit(peak.value, "B"),
                   most->label, 2 * bytes > peak.value ? "most" : "the largest part", largest,
                   percent(bytes / peak.value)),
       {evidence("memory.peak_bytes", *most, peak, "B"),
        evidence(fmt::format("memory.by_use.{}", largest), *most, bytes, "B")}});
}

}  // namespace

Sentences memory_words(const Subject& subject) {
  Sentences sentences;
  add_out_of_memory(sentences, subject.grid);
  add_largest_use(sentences, subject.grid);
  return sentences;
}

}  // namespace lockstep::report
