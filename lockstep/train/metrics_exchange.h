// The figures of all ranks, for decisions that all must take alike.
#pragma once

#include "lockstep/comm/communicator.h"
#include "lockstep/train/metrics.h"

namespace lockstep::train {

// Collective; purpose metric. The same bits on every rank. Null: one worker.
Metrics sum_over_ranks(comm::Communicator* communicator, const Metrics& mine);

}  // namespace lockstep::train
