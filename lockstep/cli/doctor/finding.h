// What the doctor finds: one fact each, and what to do about it.
#pragma once

#include <string>
#include <vector>

namespace lockstep::cli {

enum class Health { ok, missing, broken };

struct Finding {
  std::string area;  // machine, backends, programs, gpu, data
  std::string name;
  Health health = Health::ok;
  std::string fact;
  std::string next_step = {};  // empty when there is nothing to do
  bool essential = false;      // without it no run of several workers is possible
};

using Findings = std::vector<Finding>;

std::string name_of(Health health);  // "ok", "missing", "broken"

Findings examine_cpu();
Findings examine_sharing();  // memory and sockets between processes: really tried
Findings examine_backends();
Findings examine_programs();  // mpirun, python3 with torch: really run
Findings examine_gpu();
Findings examine_data();

// 0, or 4 when something essential does not work.
int exit_code_of(const Findings& findings);

}  // namespace lockstep::cli
