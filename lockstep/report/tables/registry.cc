// The tables by name.
#include <fmt/format.h>

#include <array>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/report/tables/tables.h"

namespace lockstep::report {
namespace {

struct Entry {
  const char* name;
  Table (*make)(const Subject&);
};

constexpr std::array<Entry, 17> kEntries = {{
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

}  // namespace

std::vector<std::string> table_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kEntries) names.emplace_back(entry.name);
  return names;
}

std::optional<Table> make_table(const std::string& name, const Subject& subject) {
  for (const Entry& entry : kEntries) {
    if (name != entry.name) continue;
    Table table = without_unknown(entry.make(subject));
    return table.rows.empty() ? std::nullopt : std::optional(std::move(table));
  }
  throw base::ConfigError(
      fmt::format("there is no table '{}'.{}", name, base::suggestion(name, table_names())));
}

}  // namespace lockstep::report
