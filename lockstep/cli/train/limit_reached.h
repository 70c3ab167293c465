// Which of a run's limits ended it.
#pragma once

#include <string>

#include "lockstep/record/record.h"

namespace lockstep::cli {

// "max_time 3 s", "steps 200", "epochs 2", "target val_loss 0.3"; empty for a run that did not finish, or
// whose record does not tell.
std::string limit_reached(const record::RunRecord& record);

}  // namespace lockstep::cli
