// `lockstep train` under another launcher (mpirun, srun, torchrun, or by hand): it becomes the one rank that
// its environment says it is.
#pragma once

#include "lockstep/cli/console.h"
#include "lockstep/cli/train/train_options.h"
#include "lockstep/cli/train/train_plan.h"
#include "lockstep/comm/rendezvous/identity.h"

namespace lockstep::cli {

// Throws ConfigError for a plan whose ranks only our own launcher can start: engine torch's, of more than
// one.
void require_rank_can_join(const TrainPlan& plan, const comm::Identity& identity);

// The ranks meet first: `plan` and `identity` are what variables made believe, and where the ranks are on
// other hosts than that, what was asked is planned anew. Then rank 0 makes the run's directory, starts its
// worker, follows it, and concludes; any other rank turns into its worker, which learns of the directory from
// rank 0. Returns rank 0's exit code.
int train_as_rank(const TrainOptions& options, const record::RunSpec& asked, const TrainPlan& plan,
                  const comm::Identity& identity, const Console& console);

}  // namespace lockstep::cli
