// Trains on this host: starts the workers, follows them, and concludes.
#pragma once

#include "lockstep/cli/console.h"
#include "lockstep/cli/train/train_options.h"
#include "lockstep/cli/train/train_plan.h"
#include "lockstep/lab/run_execution.h"

namespace lockstep::cli {

// After a signal workers may go on for this long, to write a checkpoint.
inline constexpr base::Nanoseconds kWindDown = std::chrono::seconds(10);

// How a planned run is started on this host. Throws DeviceError where its engine is not here.
lab::RunRequest run_request(const TrainPlan& plan);

// Returns the run's exit code.
int launch_training(const TrainOptions& options, const TrainPlan& plan, const Console& console);

}  // namespace lockstep::cli
