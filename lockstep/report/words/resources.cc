// Bytes and memory.
#include <fmt/format.h>

#include "lockstep/base/text.h"
#include "lockstep/report/model/cell_figures.h"
#include "lockstep/report/words/words.h"

namespace lockstep::report {
namespace {

// The measured cell with the most workers.
const GridCell* widest_cell(const Grid& grid) {
  const GridCell* widest = nullptr;
  for (const GridCell& cell : grid.cells)
    if (!cell.runs.empty() && !cell.runs.front().ledger.empty() &&
        (widest == nullptr || cell.workers > widest->workers))
      widest = &cell;
  return widest;
}

void add_purposes(Sentences& sentences, const GridCell& cell) {
  std::vector<std::string> others;
  std::vector<Evidence> rests;
  for (const std::string_view purpose : kPurposes) {
    const auto payload = payload_of(cell, purpose);
    if (!payload || payload->value <= 0) continue;
    rests.push_back(evidence(fmt::format("ledger[{}].payload_bytes", purpose), cell, *payload, "B"));
    if (purpose != "gradient")
      others.push_back(fmt::format("{} ({})", purpose, with_unit(payload->value, "B")));
  }
  const auto gradient = payload_of(cell, "gradient");
  if (!gradient) return;
  const std::string rest = others.empty() ? "nothing else was moved"
                                          : "besides them " + base::join(others, ", ") +
                                                " was moved: gradients are not the only messages";
  sentences.push_back({others.empty() ? "only-gradients" : "not-only-gradients",
                       fmt::format("With {}, gradients are {} of payload; {}.", cell.label,
                                   with_unit(gradient->value, "B"), rest),
                       rests});
}

// How much the gradient's payload differs between cells of several workers.
void add_gradient_range(Sentences& sentences, const Grid& grid) {
  const GridCell *least = nullptr, *most = nullptr;
  const auto bytes = [](const GridCell* cell) { return payload_of(*cell, "gradient")->value; };
  for (const GridCell& cell : grid.cells) {
    if (cell.workers < 2 || !payload_of(cell, "gradient")) continue;
    if (least == nullptr || bytes(&cell) < bytes(least)) least = &cell;
    if (most == nullptr || bytes(&cell) > bytes(most)) most = &cell;
  }
  if (least == nullptr || bytes(least) == bytes(most)) return;
  sentences.push_back(
      {"gradient-range",
       fmt::format("The gradient payload of a run goes from {} ({}) to {} ({}).",
                   with_unit(bytes(least), "B"), least->label, with_unit(bytes(most), "B"), most->label),
       {evidence("ledger[gradient].payload_bytes", *least, bytes(least), "B"),
        evidence("ledger[gradient].payload_bytes", *most, bytes(most), "B")}});
}

void add_wire(Sentences& sentences, const GridCell& cell) {
  const auto payload = payload_of(cell, "gradient"), wire = wire_of(cell, "gradient");
  if (!payload || !wire || payload->value <= 0 || cell.workers < 2) return;
  const double per_rank = wire->value / payload->value / cell.workers;
  const double ring = 2.0 * (cell.workers - 1) / cell.workers;
  sentences.push_back(
      {wire_is_estimated(cell, "gradient") ? "wire-estimated" : "wire",
       fmt::format(
           "For each payload byte of gradients a rank sent {} on the wire{}; a ring of {} ranks needs {}.",
           display_number(per_rank),
           wire_is_estimated(cell, "gradient") ? " (estimated: the library hides it)" : "", cell.workers,
           display_number(ring)),
       {evidence("ledger[gradient].wire_bytes, all ranks", cell, *wire, "B"),
        evidence("ledger[gradient].payload_bytes", cell, *payload, "B")}});
}

std::vector<std::string> labels_with(const Grid& grid, const std::string& status) {
  std::vector<std::string> labels;
  for (const GridCell& cell : grid.cells)
    if (cell.status() == status) labels.push_back(cell.label);
  return labels;
}

std::string few_of(const std::vector<std::string>& labels) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> shown(
      labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, labels.size())));
  const std::string more = labels.size() > kMost ? fmt::format(" and {} more", labels.size() - kMost) : "";
  return base::join(shown, "; ") + more;
}

void add_out_of_memory(Sentences& sentences, const Grid& grid) {
  const std::vector<std::string> ended = labels_with(grid, "out_of_memory"),
                                 fitted = labels_with(grid, "finished");
  if (ended.empty()) return;
  std::vector<Evidence> rests;
  for (const std::string& label : ended) rests.push_back({"status", label, "out_of_memory"});
  sentences.push_back(
      {"out-of-memory",
       fmt::format("Out of memory: {}. {}", few_of(ended),
                   fitted.empty() ? "No cell fitted." : "These fitted: " + few_of(fitted) + "."),
       rests});
  sentences.push_back(
      {"try-memory", "Try zero1 or zero3, accumulate, a smaller batch per worker, or more workers.", rests});
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
       fmt::format("The highest peak is {} with {}; most of it is {} ({}).", with_unit(peak.value, "B"),
                   most->label, largest, percent(bytes / peak.value)),
       {evidence("memory.peak_bytes", *most, peak, "B"),
        evidence(fmt::format("memory.by_use.{}", largest), *most, bytes, "B")}});
}

}  // namespace

Sentences bytes_words(const Subject& subject) {
  Sentences sentences;
  if (const GridCell* cell = widest_cell(subject.grid)) {
    add_purposes(sentences, *cell);
    add_gradient_range(sentences, subject.grid);
    add_wire(sentences, *cell);
  }
  return sentences;
}

Sentences memory_words(const Subject& subject) {
  Sentences sentences;
  add_out_of_memory(sentences, subject.grid);
  add_largest_use(sentences, subject.grid);
  return sentences;
}

}  // namespace lockstep::report
