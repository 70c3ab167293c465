// Collects the fingerprint of this machine for records and reports.
#pragma once

#include "lockstep/record/machine.h"

namespace lockstep::device {

// Host, processor, and the cores and memory this process may use. Who knows of a GPU or of further libraries
// adds them.
record::Machine machine_facts();

}  // namespace lockstep::device
