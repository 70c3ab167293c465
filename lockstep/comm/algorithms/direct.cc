// Gather, scatter, send and receive: every byte goes straight from the rank that has it to the rank that
// needs it, in one message.
//
//   gather    every rank but the root sends its part; the root sends nothing
//   scatter   the root sends every part but its own: S - |part root| bytes
#include "lockstep/comm/algorithms/bytes.h"
#include "lockstep/comm/algorithms/collectives.h"
#include "lockstep/comm/algorithms/segments.h"

namespace lockstep::comm {
namespace {

void wait_for_all(Exchange& exchange, std::vector<Ticket>& tickets) {
  for (Ticket& ticket : tickets) exchange.messenger.wait(ticket);
}

// The root's side of gather and scatter: one message with every other rank, and its own part copied.
template <typename Start>
void with_all_others(Exchange& exchange, const Operation& operation, Start start) {
  std::vector<Ticket> tickets;
  for (int distance = 1; distance < exchange.world(); ++distance) {
    const int peer = exchange.neighbour(distance);
    const Part part = part_of(operation, peer, exchange.world());
    if (part.bytes > 0) tickets.push_back(start(peer, part));
  }
  wait_for_all(exchange, tickets);
}

}  // namespace

void gather_direct(Exchange& exchange, const Operation& operation) {
  if (exchange.rank() != operation.root) return send_message(exchange, operation);
  const Part own = part_of(operation, exchange.rank(), exchange.world());
  copy_unless_same(bytes_at(operation.output, own.offset_bytes), operation.input.data, own.bytes);
  with_all_others(exchange, operation, [&](int peer, const Part& part) {
    return exchange.messenger.receive(peer, bytes_at(operation.output, part.offset_bytes), part.bytes);
  });
}

void scatter_direct(Exchange& exchange, const Operation& operation) {
  if (exchange.rank() != operation.root) return receive_message(exchange, operation);
  with_all_others(exchange, operation, [&](int peer, const Part& part) {
    return exchange.messenger.send(peer, bytes_at(operation.input, part.offset_bytes), part.bytes);
  });
  const Part own = part_of(operation, exchange.rank(), exchange.world());
  copy_unless_same(operation.output.data, bytes_at(operation.input, own.offset_bytes), own.bytes);
}

void send_message(Exchange& exchange, const Operation& operation) {
  if (operation.input.bytes == 0) return;
  Ticket ticket = exchange.messenger.send(operation.root, operation.input.data, operation.input.bytes);
  exchange.messenger.wait(ticket);
}

void receive_message(Exchange& exchange, const Operation& operation) {
  if (operation.output.bytes == 0) return;
  Ticket ticket = exchange.messenger.receive(operation.root, operation.output.data, operation.output.bytes);
  exchange.messenger.wait(ticket);
}

}  // namespace lockstep::comm
