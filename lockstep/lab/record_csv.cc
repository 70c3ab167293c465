// Records as CSV: one row each, the same columns for all.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lockstep/base/json.h"
#include "lockstep/base/text.h"
#include "lockstep/lab/record_exchange.h"
#include "lockstep/lab/run_figures.h"
#include "lockstep/record/spec_fields.h"

namespace lockstep::lab {
namespace {

using Json = nlohmann::json;
using Row = std::vector<std::string>;

const Row& head_columns() {
  static const Row kColumns = {
      "id",     "study", "cell",      "repeat",           "status",       "started_at",    "version",
      "engine", "host",  "spec_hash", "batch_per_worker", "batch_global", "oversubscribed"};
  return kColumns;
}

std::string line(const Row& row) {
  std::string text;
  for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : ",") + base::csv_field(row[i]);
  return text + "\r\n";
}

std::string text_of(const Json& value) {
  if (value.is_null()) return "";
  return base::value_text(value);
}

Row header() {
  Row row = head_columns();
  for (const record::Field& field : record::spec_fields())
    if (field.name != "engine") row.push_back(field.name);
  for (const RunFigure& figure : run_figures()) row.emplace_back(figure.name);
  return row;
}

Row head_of(const record::RunRecord& r) {
  const std::string host = r.machine.is_object() ? text_of(r.machine.value("host", Json())) : "";
  return {r.id,
          r.study.value_or(""),
          r.cell.value_or(""),
          r.repeat ? std::to_string(*r.repeat) : "",
          r.status,
          r.started_at,
          r.version,
          r.engine,
          host,
          r.spec_hash,
          std::to_string(r.batch.per_worker),
          std::to_string(r.batch.global),
          r.oversubscribed ? (*r.oversubscribed ? "true" : "false") : ""};
}

Row row_of(const record::RunRecord& record) {
  Row row = head_of(record);
  for (const record::Field& field : record::spec_fields())
    if (field.name != "engine") row.push_back(text_of(record.spec.value(field.name, Json())));
  // fmt's shortest form that reads back equal.
  for (const RunFigure& figure : run_figures()) {
    const std::optional<double> value = figure.of(record);
    row.push_back(value ? fmt::format("{}", *value) : "");
  }
  return row;
}

}  // namespace

std::string to_csv(std::span<const record::RunRecord> records) {
  std::string text = line(header());
  for (const record::RunRecord& record : records) text += line(row_of(record));
  return text;
}

}  // namespace lockstep::lab
