#include "lockstep/cli/run_machine.h"

#include <nlohmann/json.hpp>

#include "lockstep/base/environment.h"
#include "lockstep/base/json.h"
#include "lockstep/base/log.h"
#include "lockstep/device/machine_facts.h"

namespace lockstep::cli {

std::string machine_variable(int ranks) {
  return base::json_text(nlohmann::json(device::machine_facts(ranks)));
}

record::Machine run_machine(int ranks) {
  const auto handed_on = base::environment(kMachineVariable);
  if (!handed_on) return device::machine_facts(ranks);
  try {
    return base::parse_json(*handed_on).get<record::Machine>();
  } catch (const std::exception& error) {
    base::log_warning(std::string(kMachineVariable) + " cannot be read and is ignored: " + error.what());
    return device::machine_facts(ranks);
  }
}

}  // namespace lockstep::cli
