#include "lockstep/lab/study_cells.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/lab/study_settings.h"

namespace lockstep::lab {
namespace {

using Choice = std::vector<const AxisValue*>;  // one for each axis

bool matches(const Exclusion& exclusion, const std::vector<AxisPoint>& point) {
  return std::all_of(exclusion.where.begin(), exclusion.where.end(), [&](const auto& entry) {
    return std::any_of(point.begin(), point.end(), [&](const AxisPoint& at) {
      return at.axis == entry.first &&
             std::find(entry.second.begin(), entry.second.end(), at.value) != entry.second.end();
    });
  });
}

bool excluded(const Study& study, const std::vector<AxisPoint>& point) {
  return std::any_of(study.exclusions.begin(), study.exclusions.end(),
                     [&](const Exclusion& exclusion) { return matches(exclusion, point); });
}

std::vector<AxisPoint> point_of(const Study& study, const Choice& choice) {
  std::vector<AxisPoint> point;
  for (std::size_t i = 0; i < choice.size(); ++i) point.push_back({study.axes[i].name, choice[i]->label});
  return point;
}

// "strategy=ddp,workers=2"; a study without axes has one cell, named "only".
std::string name_of(const std::vector<AxisPoint>& point) {
  std::string name;
  for (const AxisPoint& at : point) name += (name.empty() ? "" : ",") + at.axis + "=" + at.value;
  return name.empty() ? "only" : name;
}

void apply(record::RunSpec& spec, const std::vector<FieldSetting>& settings) {
  for (const FieldSetting& setting : settings) set_from(spec, setting);
}

bool set_by_hand(const Study& study, const std::string& field) {
  return std::any_of(study.choice.sets.begin(), study.choice.sets.end(),
                     [&](const FieldSetting& setting) { return setting.field == field; });
}

// A stand-in is made for small machines: it does not overrule whoever runs the study.
void stand_in(const Study& study, record::RunSpec& spec) {
  const auto found = study.model_stand_ins.find(spec.model);
  if (found == study.model_stand_ins.end()) return;
  for (const FieldSetting& setting : found->second)
    if (!set_by_hand(study, setting.field)) set_from(spec, setting);
}

Cell make_cell(const Study& study, const Choice& choice) {
  Cell cell;
  cell.point = point_of(study, choice);
  cell.name = name_of(cell.point);
  cell.vary_seed = study.vary_seed;
  record::RunSpec spec = study.base;
  for (const AxisValue* value : choice) apply(spec, value->sets);
  stand_in(study, spec);
  set_spec(cell, std::move(spec));
  return cell;
}

// The next choice, the last axis fastest; false after the last one.
bool advance(const Study& study, std::vector<std::size_t>& indices) {
  for (std::size_t i = indices.size(); i-- > 0;) {
    if (++indices[i] < study.axes[i].values.size()) return true;
    indices[i] = 0;
  }
  return false;
}

// Before exclusions: they are looked at cell by cell.
void require_manageable(const Study& study) {
  constexpr double kMostCells = 20'000;
  double cells = 1;
  for (const Axis& axis : study.axes) cells *= static_cast<double>(axis.values.size());
  if (cells > kMostCells)
    throw base::ConfigError(
        fmt::format("{}: the axes of study {} span {:.0f} cells, more than {:.0f}. Give fewer values, "
                    "or divide it into several studies.",
                    study.file_name, study.name, cells, kMostCells));
}

Choice choice_at(const Study& study, const std::vector<std::size_t>& indices) {
  Choice choice;
  for (std::size_t i = 0; i < indices.size(); ++i) choice.push_back(&study.axes[i].values[indices[i]]);
  return choice;
}

}  // namespace

record::RunSpec Cell::spec_of(int repeat) const {
  record::RunSpec of_repeat = spec;
  if (vary_seed) of_repeat.seed += repeat - 1;
  return of_repeat;
}

std::string Cell::hash_of(int repeat) const {
  return vary_seed && repeat > 1 ? record::spec_hash(spec_of(repeat)) : hash;
}

std::string Cell::at(const std::string& axis) const {
  const auto found =
      std::find_if(point.begin(), point.end(), [&](const AxisPoint& at) { return at.axis == axis; });
  return found == point.end() ? "" : found->value;
}

void set_spec(Cell& cell, record::RunSpec spec) {
  cell.spec = std::move(spec);
  cell.hash = record::spec_hash(cell.spec);
}

std::vector<Cell> cells_of(const Study& study) {
  require_manageable(study);
  std::vector<Cell> cells;
  std::vector<std::size_t> indices(study.axes.size(), 0);
  do {
    const Choice choice = choice_at(study, indices);
    if (!excluded(study, point_of(study, choice))) cells.push_back(make_cell(study, choice));
  } while (advance(study, indices));
  if (cells.empty())
    throw base::ConfigError(
        fmt::format("{}: every cell of study {} is excluded.", study.file_name, study.name));
  return cells;
}

}  // namespace lockstep::lab
