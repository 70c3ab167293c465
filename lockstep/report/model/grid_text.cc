// How cells and machines are called.
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/text.h"
#include "lockstep/record/threads.h"
#include "lockstep/report/model/grid.h"
#include "lockstep/report/model/grid_axes.h"

namespace lockstep::report {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.+-e") == std::string::npos;
}

// Long enough to be read without the name of its axis.
bool speaks_for_itself(const std::string& value) {
  return !is_number(value) && value.size() >= 5;
}

bool is_word(const std::string& axis) {
  return axis == "strategy" || axis == "backend" || axis == "model" || axis == "data" || axis == "device" ||
         axis == "engine" || axis == "machine";
}

std::string whole_label(const GridCell& cell) {
  const record::RunRecord* run = cell.any();
  if (run == nullptr) return cell.name;
  return fmt::format("{}, {}", field_text(*run, "model"),
                     point_text({"workers", std::to_string(cell.workers)}));
}

}  // namespace

bool is_batch(std::string_view axis) {
  return axis == "batch_size" || axis == "global_batch";
}

std::string point_text(const lab::AxisPoint& point) {
  if (point.axis == "workers") return point.value + (point.value == "1" ? " worker" : " workers");
  if (point.axis == "batch_size" && !point.value.empty()) return "batch " + point.value + " per worker";
  if (point.axis == "global_batch" && !point.value.empty()) return "global batch " + point.value;
  if (point.value.empty()) return "no " + base::spaced(point.axis);
  if (is_word(point.axis) || speaks_for_itself(point.value)) return point.value;
  return base::spaced(point.axis) + " " + point.value;
}

std::string point_text(const GridAxis& axis, const std::string& value) {
  const std::string alone = point_text({axis.name, value});
  const bool named = !is_word(axis.name) && !value.empty() && alone == value &&
                     !std::all_of(axis.values.begin(), axis.values.end(), speaks_for_itself);
  return named ? base::spaced(axis.name) + " " + value : alone;
}

std::string label_without(const Grid& grid, const GridCell& cell, const std::vector<std::string>& axes) {
  std::vector<std::string> parts;
  for (const lab::AxisPoint& at : cell.point) {
    const GridAxis* axis = grid.find_axis(at.axis);
    const bool left_out = std::find(axes.begin(), axes.end(), at.axis) != axes.end();
    if (!left_out && axis != nullptr && axis->values.size() > 1) parts.push_back(point_text(*axis, at.value));
  }
  if (!parts.empty()) return base::join(parts, ", ");
  return axes.empty() ? whole_label(cell) : "";
}

std::string first_sentence(const std::string& text) {
  std::string first = text.substr(0, text.find(". "));
  while (first.ends_with('.')) first.pop_back();
  return first;
}

std::vector<std::string> reasons_of(const std::string& remark) {
  std::vector<std::string> reasons;
  for (std::size_t begin = 0; begin < remark.size();) {
    const std::size_t end = std::min(remark.find("; ", begin), remark.size());
    const std::string reason = first_sentence(remark.substr(begin, end - begin));
    if (!reason.empty() && std::find(reasons.begin(), reasons.end(), reason) == reasons.end())
      reasons.push_back(reason);
    begin = end + 2;
  }
  return reasons;
}

std::string machine_text(const record::RunRecord& record) {
  const nlohmann::json& machine = record.machine;
  if (!machine.is_object()) return "unknown machine";
  const std::string host = machine.value("host", "unknown host");
  if (machine.contains("gpu") && machine["gpu"].is_string())
    return fmt::format("{} ({})", host, machine["gpu"].get<std::string>());
  return fmt::format("{} ({}, {} cores)", host, machine.value("cpu", "unknown CPU"),
                     machine.value("cores", 0));
}

bool is_oversubscribed(const record::RunRecord& record) {
  if (record.oversubscribed) return *record.oversubscribed;
  if (field_text(record, "device") == "cuda") return false;
  const int cores = record.machine.is_object() ? record.machine.value("cores", 0) : 0;
  // Who did not ask has a share of the cores, and at least one.
  const int threads = std::max(1, record::threads_per_worker(record).value_or(1));
  return cores > 0 && record::workers_on_host(record) * threads > cores;
}

}  // namespace lockstep::report
