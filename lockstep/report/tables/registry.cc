// The tables by name.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/report/tables/tables.h"

namespace lockstep::report {
namespace {

struct TableEntry {
  const char* name;
  Table (*make)(const Subject&);
};

constexpr std::array<TableEntry, 17> kTables = {{
    {"summary", summary_table},
    {"scaling", scaling_table},
    {"throughput", throughput_table},
    {"split", split_table},
    {"bytes", bytes_table},
    {"messages", messages_table},
    {"exposure", exposure_table},
    {"bandwidth", bandwidth_table},
    {"quality", quality_table},
    {"averaging", averaging_table},
    {"targets", targets_table},
    {"memory", memory_table},
    {"minutes", minutes_table},
    {"axes", axes_table},
    {"primitives", primitives_table},
    {"published", published_table},
    {"projection", projection_table},
}};

// Whether any column besides those that name the cell is left: runs shorter than their warm-up measure
// nothing.
bool says_anything(const Table& table, const Grid& grid) {
  std::set<std::string> points;
  for (const TableColumn& column : point_columns(grid)) points.insert(column.key);
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [&](const TableColumn& column) { return !points.contains(column.key); });
}

}  // namespace

std::vector<std::string> table_names() {
  std::vector<std::string> names;
  for (const TableEntry& entry : kTables) names.emplace_back(entry.name);
  return names;
}

std::optional<Table> make_table(const std::string& name, const Subject& subject) {
  for (const TableEntry& entry : kTables) {
    if (name != entry.name) continue;
    Table table = without_unknown(entry.make(subject));
    if (table.rows.empty() || !says_anything(table, subject.grid)) return std::nullopt;
    return table;
  }
  throw base::ConfigError(
      fmt::format("there is no table '{}'.{}", name, base::suggestion(name, table_names())));
}

}  // namespace lockstep::report
