#include "lockstep/lab/compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "lockstep/base/json.h"
#include "lockstep/base/text.h"
#include "lockstep/record/spec_fields.h"

namespace lockstep::lab {
namespace {

using Records = std::vector<const record::RunRecord*>;
using Cells = std::map<std::string, Records>;

Cells cells_of(std::span<const record::RunRecord> records) {
  Cells cells;
  for (const record::RunRecord& record : records)
    if (record.status == "finished") cells[record.cell.value_or(record.spec_hash)].push_back(&record);
  return cells;
}

std::vector<double> values_of(const RunFigure& figure, const Records& records) {
  std::vector<double> values;
  for (const record::RunRecord* record : records)
    if (const auto value = figure.of(*record)) values.push_back(*value);
  return values;
}

// One run on a side has no repeats; its steps are many. Their medians' intervals, taken together, bound the
// difference: wider than they need be, never narrower.
std::optional<base::Interval> interval_of_steps(const Records& a, const Records& b) {
  if (a.size() != 1 || b.size() != 1) return std::nullopt;
  const auto& in_a = a.front()->steps.seconds;
  const auto& in_b = b.front()->steps.seconds;
  if (!in_a || !in_b || in_a->ci95.size() != 2 || in_b->ci95.size() != 2) return std::nullopt;
  return base::Interval{in_b->ci95[0] - in_a->ci95[1], in_b->ci95[1] - in_a->ci95[0]};
}

// Student's t knows of no bounds; what is never negative cannot fall by more than all of it. Decibels can.
void bound(Difference& difference, const RunFigure& figure, double least) {
  if (!difference.interval || least < 0 || figure.unit == "dB") return;
  difference.interval->low = std::max(difference.interval->low, -difference.mean_a);
}

std::optional<ComparedFigure> compare_figure(const RunFigure& figure, const Records& a, const Records& b) {
  const std::vector<double> in_a = values_of(figure, a), in_b = values_of(figure, b);
  if (in_a.empty() || in_b.empty()) return std::nullopt;
  ComparedFigure compared{&figure, in_a.size(), in_b.size(), false, difference_of(in_a, in_b)};
  if (figure.name == "step_seconds" && !compared.difference.interval) {
    compared.difference.interval = interval_of_steps(a, b);
    compared.of_steps = compared.difference.interval.has_value();
  }
  bound(compared.difference, figure, std::min(std::ranges::min(in_a), std::ranges::min(in_b)));
  return compared;
}

// All values that a side's specs have of a field; a spec of another version may lack it.
std::set<std::string> spec_values(const record::Field& field, const Records& records) {
  std::set<std::string> values;
  for (const record::RunRecord* record : records) {
    const nlohmann::json& value =
        record->spec.contains(field.name) ? record->spec.at(field.name) : field.default_value;
    values.insert(value.is_null() ? "unset" : base::value_text(value));
  }
  return values;
}

std::string text_of(const std::set<std::string>& values) {
  return base::join(std::vector<std::string>(values.begin(), values.end()), ", ");
}

// Repeats may differ in their seed, and one side may have more of them: a value in common is enough.
bool have_one_in_common(const std::set<std::string>& one, const std::set<std::string>& other) {
  return std::ranges::any_of(one, [&](const std::string& value) { return other.contains(value); });
}

std::vector<DifferingField> differing_fields(const Records& a, const Records& b) {
  std::vector<DifferingField> differing;
  for (const record::Field& field : record::spec_fields()) {
    if (!field.rule.identity()) continue;
    const std::set<std::string> in_a = spec_values(field, a), in_b = spec_values(field, b);
    if (!have_one_in_common(in_a, in_b)) differing.push_back({field.name, text_of(in_a), text_of(in_b)});
  }
  return differing;
}

ComparedCell compare_cell(const std::string& name, const Records& a, const Records& b,
                          const std::vector<std::string>& wanted) {
  ComparedCell cell{name, {}, "", differing_fields(a, b)};
  for (const RunFigure& figure : run_figures()) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), figure.name) == wanted.end()) continue;
    if (auto compared = compare_figure(figure, a, b)) cell.figures.push_back(*compared);
  }
  return cell;
}

}  // namespace

std::optional<double> ComparedFigure::relative() const {
  if (difference.mean_a == 0) return std::nullopt;
  return difference.difference / std::abs(difference.mean_a);
}

std::optional<double> ComparedFigure::worse() const {
  const std::optional<double> change = relative();
  if (!change || figure->better == Better::neither) return std::nullopt;
  return figure->better == Better::lower ? *change : -*change;
}

std::optional<bool> ComparedFigure::differs() const {
  const std::optional<bool> significant = difference.significant();
  return significant || figure->unit != "B" ? significant : std::optional(difference.difference != 0);
}

bool ComparedFigure::lost() const {
  return figure->better != Better::neither && std::isfinite(difference.mean_a) &&
         !std::isfinite(difference.mean_b);
}

bool ComparedFigure::misses(double threshold) const {
  if (lost()) return true;
  const std::optional<double> by = worse();
  return by && *by > threshold && differs().value_or(false);
}

bool ComparedFigure::undecided(double threshold) const {
  if (lost()) return false;
  const std::optional<double> by = worse();
  return by && *by > threshold && !differs();
}

std::vector<ComparedCell> compare(std::span<const record::RunRecord> a, std::span<const record::RunRecord> b,
                                  const std::vector<std::string>& figures) {
  const Cells in_a = cells_of(a), in_b = cells_of(b);
  if (in_a.size() == 1 && in_b.size() == 1)
    return {compare_cell(in_a.begin()->first == in_b.begin()->first ? in_a.begin()->first : "",
                         in_a.begin()->second, in_b.begin()->second, figures)};
  std::vector<ComparedCell> cells;
  for (const auto& [name, records] : in_a) {
    const auto other = in_b.find(name);
    cells.push_back(other == in_b.end() ? ComparedCell{name, {}, "A"}
                                        : compare_cell(name, records, other->second, figures));
  }
  for (const auto& [name, records] : in_b)
    if (!in_a.contains(name)) cells.push_back({name, {}, "B"});
  return cells;
}

}  // namespace lockstep::lab
