// The collectives, each in a file of its own with its steps and bytes on top; docs/algorithms.md has the
// table. All are for two ranks or more and for operations that passed validate(). Results have the same bits
// on every rank and in every run: the order of reduction depends on ranks and sizes only.
#pragma once

#include "lockstep/comm/algorithms/exchange.h"
#include "lockstep/comm/operation.h"

namespace lockstep::comm {

void all_reduce_ring(Exchange& exchange, const Operation& operation);
void all_reduce_doubling(Exchange& exchange, const Operation& operation);
void reduce_scatter_ring(Exchange& exchange, const Operation& operation);
void all_gather_ring(Exchange& exchange, const Operation& operation);
void all_gather_direct(Exchange& exchange, const Operation& operation);
void broadcast_chain(Exchange& exchange, const Operation& operation);
void broadcast_tree(Exchange& exchange, const Operation& operation);
void reduce_chain(Exchange& exchange, const Operation& operation);
void reduce_tree(Exchange& exchange, const Operation& operation);
void gather_direct(Exchange& exchange, const Operation& operation);
void scatter_direct(Exchange& exchange, const Operation& operation);
void send_message(Exchange& exchange, const Operation& operation);
void receive_message(Exchange& exchange, const Operation& operation);
void barrier_dissemination(Exchange& exchange);

// Runs any operation by the way that suits its size and the number of ranks, one rank included.
void run_collective(Exchange& exchange, const Operation& operation);

}  // namespace lockstep::comm
