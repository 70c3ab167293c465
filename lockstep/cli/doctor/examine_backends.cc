// The doctor's look at the backends.
#include "lockstep/base/environment.h"
#include "lockstep/cli/doctor/finding.h"
#include "lockstep/comm/registry.h"

namespace lockstep::cli {

Findings examine_backends() {
  const comm::Registry registry(base::plugin_directory());
  Findings findings;
  for (const std::string& name : registry.names()) {
    const comm::Availability availability = registry.find(name).availability();
    findings.push_back({"backends", name, availability.available ? Health::ok : Health::missing,
                        availability.detail.empty() ? "available" : availability.detail,
                        availability.next_step});
  }
  return findings;
}

}  // namespace lockstep::cli
