#include "lockstep/cli/commands/backends.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lockstep/base/environment.h"
#include "lockstep/base/json.h"
#include "lockstep/cli/setters.h"
#include "lockstep/cli/version.h"
#include "lockstep/comm/registry.h"
#include "lockstep/record/catalogue.h"

namespace lockstep::cli {
namespace {

struct Row {
  record::BackendEntry entry;
  comm::Availability availability;
};

std::vector<Row> rows_of(const comm::Registry& registry) {
  std::vector<Row> rows;
  for (const record::BackendEntry& entry : record::backend_entries())
    rows.push_back({entry, registry.find(entry.name).availability()});
  return rows;
}

std::string text_of(const std::vector<Row>& rows, const Console& console) {
  std::string text =
      console.styled(fmt::format("{:<8}{:<8}{:<11}{}", "name", "link", "here", "what"), Tone::heading) + "\n";
  for (const auto& [entry, availability] : rows) {
    const std::string state = fmt::format("{:<11}", availability.available ? "available" : "missing");
    text += fmt::format("{:<8}{:<8}{}{}\n", entry.name, entry.link,
                        console.styled(state, availability.available ? Tone::good : Tone::warning),
                        entry.description);
    const std::string indent(27, ' ');
    if (!availability.detail.empty()) text += indent + availability.detail + "\n";
    if (!availability.next_step.empty()) text += indent + availability.next_step + "\n";
  }
  return text;
}

nlohmann::ordered_json json_of(const std::vector<Row>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [entry, availability] : rows)
    list.push_back({{"name", entry.name},
                    {"link", entry.link},
                    {"description", entry.description},
                    {"available", availability.available},
                    {"detail", availability.detail},
                    {"next_step", availability.next_step}});
  return {{"schema", 1}, {"kind", "backends"}, {"version", version()}, {"backends", list}};
}

}  // namespace

std::vector<Example> BackendsCommand::examples() const {
  return {
      {"lockstep backends", "name, link, and whether each can be used here"},
      {"lockstep backends --json | python3 -m json.tool", "the same for programs"},
  };
}

std::vector<Flag> BackendsCommand::flags() {
  return {{.names = "--json", .help = "print one JSON document", .set = turn_on(json_)}};
}

int BackendsCommand::run(const Invocation& invocation) {
  const comm::Registry registry(base::plugin_directory());
  const std::vector<Row> rows = rows_of(registry);
  invocation.console.print(json_ ? base::json_text(json_of(rows), 2) + "\n"
                                 : text_of(rows, invocation.console));
  return 0;
}

}  // namespace lockstep::cli
