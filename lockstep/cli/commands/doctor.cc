#include "lockstep/cli/commands/doctor.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lockstep/base/json.h"
#include "lockstep/cli/doctor/finding.h"
#include "lockstep/cli/setters.h"
#include "lockstep/cli/version.h"

namespace lockstep::cli {
namespace {

constexpr const char* kUntried = "More than one physical GPU has not been tried with this version.";

Findings examine_all() {
  Findings all;
  // The GPU before the backends: nccl starts the driver in this process, and a process that is forked from it
  // then cannot.
  for (const auto examine :
       {examine_cpu, examine_sharing, examine_gpu, examine_backends, examine_programs, examine_data})
    for (Finding& finding : examine()) all.push_back(std::move(finding));
  return all;
}

Tone tone_of(const Finding& finding) {
  if (finding.health == Health::ok) return Tone::good;
  return finding.health == Health::broken || finding.essential ? Tone::bad : Tone::warning;
}

std::string text_of(const Findings& findings, const Console& console) {
  std::string text, area;
  for (const Finding& finding : findings) {
    if (finding.area != area) text += console.styled(finding.area, Tone::heading) + "\n";
    area = finding.area;
    const std::string state = console.styled(fmt::format("{:<8}", name_of(finding.health)), tone_of(finding));
    text += fmt::format("  {}{:<22}{}\n", state, finding.name, finding.fact);
    if (!finding.next_step.empty()) text += fmt::format("{:32}{}\n", "", finding.next_step);
  }
  return text + "\n" + kUntried + "\n";
}

nlohmann::ordered_json json_of(const Findings& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& finding : findings)
    list.push_back({{"area", finding.area},
                    {"name", finding.name},
                    {"state", name_of(finding.health)},
                    {"fact", finding.fact},
                    {"next_step", finding.next_step},
                    {"essential", finding.essential}});
  return {
      {"schema", 1}, {"kind", "doctor"}, {"version", version()}, {"findings", list}, {"untried", {kUntried}}};
}

}  // namespace

std::vector<Example> DoctorCommand::examples() const {
  return {
      {"lockstep doctor", "every part tried, with the next step where one fails"},
      {"lockstep doctor --json", "the same for programs; exit 4 when no several workers can run here"},
  };
}

std::vector<Flag> DoctorCommand::flags() {
  return {{.names = "--json", .help = "print one JSON document", .set = turn_on(json_)}};
}

int DoctorCommand::run(const Invocation& invocation) {
  const Findings findings = examine_all();
  invocation.console.print(json_ ? base::json_text(json_of(findings), 2) + "\n"
                                 : text_of(findings, invocation.console));
  return exit_code_of(findings);
}

}  // namespace lockstep::cli
