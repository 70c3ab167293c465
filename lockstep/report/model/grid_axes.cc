#include "lockstep/report/model/grid_axes.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include "lockstep/base/json.h"

namespace lockstep::report {
namespace {

constexpr std::array kFirst = {"engine", "model",   "data",       "strategy",     "backend",
                               "device", "workers", "batch_size", "global_batch", "threads"};
// They change where files lie, how long to wait or what is drawn, never what is compared.
constexpr std::array kNoAxis = {"seed",           "data_dir", "loader_threads",    "prefetch",
                                "trace",          "resume",   "checkpoint_epochs", "checkpoint_time",
                                "export_weights", "timeout",  "data_seed",         "measure",
                                "skip_steps"};

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<double> as_number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' ? std::optional(value) : std::nullopt;
}

std::set<std::string> all_fields(const std::vector<record::RunRecord>& records) {
  std::set<std::string> fields;
  for (const record::RunRecord& record : records)
    if (record.spec.is_object())
      for (const auto& [field, value] : record.spec.items()) fields.insert(field);
  return fields;
}

bool differs(const std::vector<record::RunRecord>& records, const std::string& field) {
  const std::string first = field_text(records.front(), field);
  return std::any_of(records.begin(), records.end(),
                     [&](const auto& record) { return field_text(record, field) != first; });
}

}  // namespace

std::string field_text(const record::RunRecord& record, const std::string& field) {
  if (field == "workers") return std::to_string(record.workers);
  if (!record.spec.is_object() || !record.spec.contains(field)) return "";
  const nlohmann::json& value = record.spec[field];
  return base::value_text(value);
}

std::string axis_text(const record::RunRecord& record, const std::string& field) {
  const std::string given = field_text(record, field);
  const std::int64_t batch = field == "batch_size"     ? record.batch.per_worker
                             : field == "global_batch" ? record.batch.global
                                                       : 0;
  return (given.empty() || given == "null") && batch > 0 ? std::to_string(batch) : given;
}

std::vector<std::string> differing_fields(const std::vector<record::RunRecord>& records) {
  if (records.empty()) return {};
  std::vector<std::string> fields;
  for (const char* field : kFirst)
    if (differs(records, field)) fields.emplace_back(field);
  for (const std::string& field : all_fields(records))
    if (!contains(kFirst, field) && !contains(kNoAxis, field) && differs(records, field))
      fields.push_back(field);
  return fields;
}

void sort_values(std::vector<std::string>& values) {
  std::stable_sort(values.begin(), values.end(), [](const std::string& one, const std::string& other) {
    const auto first = as_number(one), second = as_number(other);
    if (first && second) return *first < *second;
    return first.has_value() != second.has_value() ? first.has_value() : one < other;
  });
}

}  // namespace lockstep::report
