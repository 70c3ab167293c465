// The collectives, each in a file of its own with its steps and bytes on top; docs/algorithms.md has the
// table. All are for two ranks or more and for operations that passed validate(). Results have the same bits
// on every rank and in every run: the order of reduction depends on ranks and sizes only.
#pragma once

#include "lockstep/comm/algorithms/collective_context.h"
#include "lockstep/comm/operation.h"

namespace lockstep::comm {

void all_reduce_ring(CollectiveContext& context, const Operation& operation);
void all_reduce_doubling(CollectiveContext& context, const Operation& operation);
void reduce_scatter_ring(CollectiveContext& context, const Operation& operation);
void all_gather_ring(CollectiveContext& context, const Operation& operation);
void all_gather_direct(CollectiveContext& context, const Operation& operation);
void broadcast_chain(CollectiveContext& context, const Operation& operation);
void broadcast_tree(CollectiveContext& context, const Operation& operation);
void reduce_chain(CollectiveContext& context, const Operation& operation);
void reduce_tree(CollectiveContext& context, const Operation& operation);
void gather_direct(CollectiveContext& context, const Operation& operation);
void scatter_direct(CollectiveContext& context, const Operation& operation);
void send_message(CollectiveContext& context, const Operation& operation);
void receive_message(CollectiveContext& context, const Operation& operation);
void barrier_dissemination(CollectiveContext& context);

// Runs any operation by the way that suits its size and the number of ranks, one rank included.
void run_collective(CollectiveContext& context, const Operation& operation);

}  // namespace lockstep::comm
