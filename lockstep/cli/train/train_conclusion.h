// The end of `lockstep train`: the record is made, kept and printed.
#pragma once

#include "lockstep/cli/console.h"
#include "lockstep/cli/train/train_options.h"
#include "lockstep/lab/run_execution.h"
#include "lockstep/launch/signals.h"
#include "lockstep/record/machine.h"

namespace lockstep::cli {

// Returns the command's exit code: the run's, or 1 for a run whose ranks ended well without having finished.
// When the record cannot be kept, it throws StoreError after the results were printed; of a run that has
// failed anyway it only warns. Signals are held until it is kept. Throws ReaderGone where all went well and
// nobody read the results.
int conclude_training(const TrainOptions& options, const lab::RunDirectory& run,
                      const lab::RunOutcome& outcome, const record::Machine& machine,
                      std::optional<launch::HeldSignals>& held, const Console& console);

}  // namespace lockstep::cli
