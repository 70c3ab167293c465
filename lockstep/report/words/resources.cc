// Bytes: by purpose, payload against wire, and to the byte against what was published.
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/counted.h"
#include "lockstep/base/text.h"
#include "lockstep/report/model/cell_figures.h"
#include "lockstep/report/model/gradient_traffic.h"
#include "lockstep/report/model/grid_axes.h"
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
    // What a rank keeps to itself was counted and not moved.
    const auto wire = wire_of(cell, purpose);
    if (purpose != "gradient" && !(wire && wire->value <= 0))
      others.push_back(fmt::format("{} ({})", purpose, with_unit(payload->value, "B")));
  }
  const auto gradient = payload_of(cell, "gradient");
  if (!gradient) return;
  const std::string rest = others.empty()
                               ? "nothing else was moved"
                               : fmt::format("besides them {} {} moved: gradients are not the only messages",
                                             base::join(others, ", "), others.size() == 1 ? "was" : "were");
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

// Collectives in which every rank of a ring sends equally much; rooted ones have no such figure.
bool is_ringed(measure::Collective collective) {
  return collective == measure::Collective::all_reduce || collective == measure::Collective::reduce_scatter ||
         collective == measure::Collective::all_gather;
}

void add_wire(Sentences& sentences, const GridCell& cell) {
  const auto payload = payload_of(cell, "gradient"), wire = wire_of(cell, "gradient");
  if (!payload || !wire || payload->value <= 0 || cell.workers < 2) return;
  // dp reduces to one replica: no ring is what it should be held against.
  if (field_text(cell.runs.front(), "strategy") == "dp") return;
  const double per_rank = wire->value / payload->value / cell.workers;
  const auto collective = gradient_collective(cell);
  if (!collective || !is_ringed(*collective)) return;
  const std::string sent = display_number(per_rank);
  sentences.push_back(
      {wire_is_estimated(cell, "gradient") ? "wire-estimated" : "wire",
       fmt::format(
           "With {}, a rank sent {} byte{} on the wire for each payload byte of gradients{}; a ring of {} "
           "ranks needs {} for {}.",
           cell.label, sent, sent == "1" ? "" : "s",
           wire_is_estimated(cell, "gradient") ? " (estimated: the library hides it)" : "", cell.workers,
           display_number(measure::bus_factor(*collective, cell.workers)), measure::name_of(*collective)),
       {evidence("ledger[gradient].wire_bytes, all ranks", cell, *wire, "B"),
        evidence("ledger[gradient].payload_bytes", cell, *payload, "B")}});
}

// The columns that somebody published in bytes and that ours can be held against.
std::vector<const lab::Published*> published_bytes(const Subject& subject) {
  std::vector<const lab::Published*> columns;
  if (subject.study == nullptr) return columns;
  for (const lab::Published& column : subject.study->published)
    if (column.unit == "B" && !column.figure.empty()) columns.push_back(&column);
  return columns;
}

std::optional<double> published_for(const lab::Published& column, const GridCell& cell) {
  for (const lab::PublishedValue& given : column.values)
    if (std::all_of(given.at.begin(), given.at.end(),
                    [&](const lab::AxisPoint& at) { return cell.at(at.axis) == at.value; }))
      return given.value;
  return std::nullopt;
}

// "gradient" of gradient_payload_bytes.
std::string figure_words(const lab::Published& column) {
  return column.figure.substr(0, column.figure.find("_payload_bytes"));
}

struct ByteMatch {
  std::size_t equal = 0, compared = 0;
  std::vector<std::string> differing;
  std::vector<Evidence> rests;
};

// One cell's bytes by published column; counts in `match` which of them are equal.
std::string bytes_text(const GridCell& cell, const std::vector<const lab::Published*>& columns,
                       ByteMatch& match) {
  std::vector<std::string> texts;
  for (const lab::Published* column : columns) {
    const auto ours = figure(cell, column->figure);
    const auto theirs = published_for(*column, cell);
    if (!ours || !theirs) continue;
    texts.push_back(fmt::format("{} {} B", figure_words(*column), display_exact(ours->value)));
    match.rests.push_back({"ledger: " + column->figure, cell.label, display_exact(ours->value) + " B"});
    match.rests.push_back({"published: " + column->name, cell.label, display_exact(*theirs) + " B"});
    ++match.compared;
    if (ours->value == *theirs)
      ++match.equal;
    else
      match.differing.push_back(fmt::format("{} with {} ({} against {} B)", figure_words(*column), cell.label,
                                            display_exact(ours->value), display_exact(*theirs)));
  }
  return base::join(texts, ", ");
}

// Every published byte count beside ours, and whether they are equal.
void add_published_bytes(Sentences& sentences, const Subject& subject) {
  const std::vector<const lab::Published*> columns = published_bytes(subject);
  ByteMatch match;
  for (const GridCell& cell : subject.grid.cells) {
    const std::size_t before = match.rests.size();
    const std::string text = bytes_text(cell, columns, match);
    if (text.empty()) continue;
    sentences.push_back({"bytes-of-cell",
                         fmt::format("With {}, payload: {}.", cell.label, text),
                         {match.rests.begin() + static_cast<std::ptrdiff_t>(before), match.rests.end()}});
  }
  if (match.compared == 0) return;
  const bool equal = match.equal == match.compared;
  sentences.push_back(
      {equal ? "published-bytes-equal" : "published-bytes-differ",
       equal ? (match.compared == 1
                    ? "The figure equals the published one to the byte."
                    : fmt::format("All {} figures equal the published ones to the byte.", match.compared))
             : fmt::format("{} of {} equal the published ones to the byte; what does not: {}.", match.equal,
                           base::counted(match.compared, "figure"), base::join(match.differing, "; ")),
       match.rests});
}

}  // namespace

Sentences bytes_words(const Subject& subject) {
  Sentences sentences;
  add_published_bytes(sentences, subject);
  if (const GridCell* cell = widest_cell(subject.grid)) {
    add_purposes(sentences, *cell);
    append(sentences, payload_words(subject));
    if (published_bytes(subject).empty()) add_gradient_range(sentences, subject.grid);
    add_wire(sentences, *cell);
  }
  return sentences;
}

}  // namespace lockstep::report
