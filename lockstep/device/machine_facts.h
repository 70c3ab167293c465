// Collects the fingerprint of this machine for records and reports.
#pragma once

#include "lockstep/record/machine.h"

namespace lockstep::device {

// Host, processor, and the memory and cores this process may use; with `ranks`, the cores that so many ranks
// of one launcher have together (topology_of_ranks). Who knows of a GPU or of further libraries adds them.
record::Machine machine_facts(int ranks = 1);

}  // namespace lockstep::device
