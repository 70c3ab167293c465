// The machine as the whole run has it. A rank is pinned to its own cores and would count only those, so the
// launcher hands on what it saw.
#pragma once

#include "lockstep/record/machine.h"

namespace lockstep::cli {

inline constexpr const char* kMachineVariable = "LOCKSTEP_MACHINE";  // the record's "machine" as JSON

// `ranks`: how many ranks of this host another launcher has started, this process being one of them.
// What to set the variable to, for ranks about to be started.
std::string machine_variable(int ranks = 1);
// What the variable says, else what this process sees.
record::Machine run_machine(int ranks = 1);

}  // namespace lockstep::cli
