#include "lockstep/cli/doctor/finding.h"

#include <algorithm>

#include "lockstep/base/exit_code.h"

namespace lockstep::cli {

std::string name_of(Health health) {
  switch (health) {
    case Health::ok:
      return "ok";
    case Health::missing:
      return "missing";
    case Health::broken:
      break;
  }
  return "broken";
}

int exit_code_of(const Findings& findings) {
  const bool hopeless = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.essential && finding.health != Health::ok;
  });
  return static_cast<int>(hopeless ? base::ExitCode::missing : base::ExitCode::done);
}

}  // namespace lockstep::cli
