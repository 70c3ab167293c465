// What goes wrong in a run becomes its last event before it ends the rank.
#pragma once

#include <functional>

#include "lockstep/train/event_log.h"
#include "lockstep/train/trainer.h"

namespace lockstep::train {

// An event that may be lost: not worth hiding what went wrong.
void write_failure(EventLog& events, const record::FailedEvent& event);

// Runs `body`; an error is written as a failed event and thrown on, a foreign one as the error of ours that
// it stands for. One that says that memory ran out says too what the run of `spec` needs and what would help.
Ending report_failures(EventLog& events, const record::RunSpec& spec, const std::function<Ending()>& body);

}  // namespace lockstep::train
