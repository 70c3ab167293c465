#include "lockstep/report/model/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lockstep/base/text.h"
#include "lockstep/lab/run_figures.h"
#include "lockstep/lab/study_cells.h"
#include "lockstep/report/model/grid_axes.h"

namespace lockstep::report {
namespace {

using lab::AxisPoint;
using record::RunRecord;

constexpr const char* kMachineAxis = "machine";

// What each machine is called on its axis: its host, or all that is known where hosts do not tell them apart.
class MachineNames {
 public:
  explicit MachineNames(const std::vector<RunRecord>& records) {
    std::set<std::string> hosts;
    for (const RunRecord& record : records) {
      machines_.insert(machine_text(record));
      hosts.insert(host_of(record));
    }
    by_host_ = hosts.size() == machines_.size();
    for (const RunRecord& record : records) names_.insert(name_of(record));
  }
  std::string name_of(const RunRecord& record) const {
    return by_host_ ? host_of(record) : machine_text(record);
  }
  bool several() const { return machines_.size() > 1; }
  const std::set<std::string>& all() const { return names_; }

 private:
  static std::string host_of(const RunRecord& record) {
    return record.machine.is_object() ? record.machine.value("host", "unknown host") : "unknown host";
  }

  std::set<std::string> machines_, names_;
  bool by_host_ = true;
};

std::string cell_name_at(const std::vector<AxisPoint>& point) {
  std::string name;
  for (const AxisPoint& at : point) name += (name.empty() ? "" : ",") + at.axis + "=" + at.value;
  return name.empty() ? "only" : name;
}

// The cells of a study, empty yet, for each machine.
std::vector<GridCell> study_cells(const lab::Study& study, const MachineNames& machines) {
  std::vector<GridCell> cells;
  for (const lab::Cell& planned : lab::cells_of(study)) {
    GridCell cell;
    cell.name = planned.name;
    cell.point = planned.point;
    cell.workers = static_cast<int>(planned.spec.workers);
    cell.strong = planned.spec.global_batch.has_value();
    if (!machines.several()) {
      cells.push_back(cell);
      continue;
    }
    for (const std::string& machine : machines.all()) {
      cells.push_back(cell);
      cells.back().point.push_back({kMachineAxis, machine});
    }
  }
  return cells;
}

void take(GridCell& cell, RunRecord record) {
  cell.workers = record.workers;
  cell.batch = record.batch;
  cell.strong = cell.strong || !field_text(record, "global_batch").empty();
  cell.oversubscribed = cell.oversubscribed || is_oversubscribed(record);
  (record.status == "finished" ? cell.runs : cell.others).push_back(std::move(record));
}

bool belongs(const GridCell& cell, const RunRecord& record, const MachineNames& machines) {
  const std::string machine = cell.at(kMachineAxis);
  return cell.name == record.cell.value_or("") && (machine.empty() || machine == machines.name_of(record));
}

void fill(Grid& grid, const MachineNames& machines, std::vector<RunRecord> records) {
  for (RunRecord& record : records) {
    const auto found = std::find_if(grid.cells.begin(), grid.cells.end(),
                                    [&](const GridCell& cell) { return belongs(cell, record, machines); });
    if (found == grid.cells.end())
      grid.warnings.push_back(fmt::format("run {} is of cell '{}', which the study does not have: left out.",
                                          record.id, record.cell.value_or("")));
    else
      take(*found, std::move(record));
  }
}

// Whoever names the runs may do so in any order.
void sort_others(GridCell& cell) {
  const auto place = [](const RunRecord& run) {
    return std::pair(run.status == "out_of_memory" ? 0 : run.status == "interrupted" ? 2 : 1, run.id);
  };
  std::stable_sort(cell.others.begin(), cell.others.end(),
                   [&](const RunRecord& one, const RunRecord& other) { return place(one) < place(other); });
}

std::vector<AxisPoint> point_of(const RunRecord& record, const std::vector<std::string>& fields,
                                const MachineNames& machines) {
  std::vector<AxisPoint> point;
  for (const std::string& field : fields) point.push_back({field, axis_text(record, field)});
  if (machines.several()) point.push_back({kMachineAxis, machines.name_of(record)});
  return point;
}

void group(Grid& grid, const MachineNames& machines, std::vector<RunRecord> records) {
  const std::vector<std::string> fields = differing_fields(records);
  for (RunRecord& record : records) {
    const std::vector<AxisPoint> point = point_of(record, fields, machines);
    auto found = std::find_if(grid.cells.begin(), grid.cells.end(),
                              [&](const GridCell& cell) { return cell.point == point; });
    if (found == grid.cells.end()) {
      grid.cells.push_back({});
      found = grid.cells.end() - 1;
      found->point = point;
      found->name = cell_name_at(point);
    }
    take(*found, std::move(record));
  }
}

// The values that cells have on each axis; of a study in its order, else by size or name.
std::vector<GridAxis> axes_of(const std::vector<GridCell>& cells, bool keep_order) {
  std::vector<GridAxis> axes;
  for (const GridCell& cell : cells)
    for (const AxisPoint& at : cell.point) {
      auto axis =
          std::find_if(axes.begin(), axes.end(), [&](const GridAxis& a) { return a.name == at.axis; });
      if (axis == axes.end()) axis = axes.insert(axes.end(), {at.axis, {}});
      if (std::find(axis->values.begin(), axis->values.end(), at.value) == axis->values.end())
        axis->values.push_back(at.value);
    }
  if (!keep_order)
    for (GridAxis& axis : axes) sort_values(axis.values);
  return axes;
}

void sort_cells(Grid& grid) {
  const auto position = [&grid](const AxisPoint& at) {
    const std::vector<std::string>& values = grid.find_axis(at.axis)->values;
    return std::find(values.begin(), values.end(), at.value) - values.begin();
  };
  std::stable_sort(grid.cells.begin(), grid.cells.end(), [&](const GridCell& one, const GridCell& other) {
    for (std::size_t i = 0; i < one.point.size(); ++i)
      if (position(one.point[i]) != position(other.point[i]))
        return position(one.point[i]) < position(other.point[i]);
    return false;
  });
}

// Of one run without repeats the steps themselves say how far to trust their median.
void add_step_interval(Number& number, const GridCell& cell) {
  const auto& seconds = cell.runs.front().steps.seconds;
  if (seconds && seconds->ci95.size() == 2)
    number.interval = base::Interval{seconds->ci95[0], seconds->ci95[1]};
}

// Student's t knows of no bounds; a share has two.
void clamp_share(Number& number) {
  if (!number.interval) return;
  number.interval->low = std::clamp(number.interval->low, 0.0, 1.0);
  number.interval->high = std::clamp(number.interval->high, 0.0, 1.0);
}

}  // namespace

std::string GridCell::at(std::string_view axis) const {
  for (const AxisPoint& there : point)
    if (there.axis == axis) return there.value;
  return "";
}

const RunRecord* GridCell::any() const {
  if (!runs.empty()) return &runs.front();
  return others.empty() ? nullptr : &others.front();
}

std::string GridCell::status() const {
  const RunRecord* run = any();
  return run == nullptr ? "not run" : run->status;
}

std::string GridCell::outcome() const {
  return runs.empty() && others_text().find(',') != std::string::npos ? others_text() : status();
}

std::string GridCell::others_text() const {
  std::vector<std::pair<std::string, int>> counts;
  for (const RunRecord& run : others) {
    if (counts.empty() || counts.back().first != run.status) counts.emplace_back(run.status, 0);
    ++counts.back().second;
  }
  std::vector<std::string> parts;
  for (const auto& [status, count] : counts)
    parts.push_back(counts.size() == 1 ? status : fmt::format("{} {}", count, status));
  return base::spaced(base::join(parts, ", "));
}

std::vector<const RunRecord*> GridCell::failures() const {
  std::set<std::string> kinds;
  std::vector<const RunRecord*> first;
  for (const RunRecord& run : others)
    if (kinds.insert(run.failure ? run.failure->kind : run.status).second) first.push_back(&run);
  return first;
}

const GridAxis* Grid::find_axis(std::string_view name) const {
  for (const GridAxis& axis : axes)
    if (axis.name == name) return &axis;
  return nullptr;
}

Grid make_grid(const lab::Study* study, const std::vector<CellNote>& notes, std::vector<RunRecord> records) {
  Grid grid;
  const MachineNames machines(records);
  if (study != nullptr) {
    grid.cells = study_cells(*study, machines);
    fill(grid, machines, std::move(records));
  } else {
    group(grid, machines, std::move(records));
  }
  grid.axes = axes_of(grid.cells, study != nullptr);
  if (study == nullptr) sort_cells(grid);
  for (GridCell& cell : grid.cells) {
    sort_others(cell);
    cell.label = label_without(grid, cell, {});
    for (const CellNote& note : notes)
      if (note.cell == cell.name) cell.remark = note.remark;
  }
  return grid;
}

std::optional<Number> figure(const GridCell& cell, RunValue of) {
  std::vector<double> values;
  for (const RunRecord& run : cell.runs)
    if (const auto value = of(run)) values.push_back(*value);
  return estimate(values);
}

std::optional<Number> figure(const GridCell& cell, std::string_view name) {
  const lab::RunFigure* found = lab::find_run_figure(name);
  if (found == nullptr) return std::nullopt;
  std::optional<Number> number = figure(cell, found->of);
  if (number && cell.runs.size() == 1 && name == "step_seconds") add_step_interval(*number, cell);
  if (number && (name.ends_with("_accuracy") || name == "hidden_fraction")) clamp_share(*number);
  return number;
}

}  // namespace lockstep::report
