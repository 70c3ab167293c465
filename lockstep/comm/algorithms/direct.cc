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

void wait_for_all(CollectiveContext& context, std::vector<Ticket>& tickets) {
  for (Ticket& ticket : tickets) context.messenger.wait(ticket);
}

// The root's side of gather and scatter: one message with every other rank, and its own part copied.
template <typename Start>
void with_all_others(CollectiveContext& context, const Operation& operation, Start start) {
  std::vector<Ticket> tickets;
  for (int distance = 1; distance < context.world(); ++distance) {
    const int peer = context.neighbour(distance);
    const Part part = part_of(operation, peer, context.world());
    if (part.bytes > 0) tickets.push_back(start(peer, part));
  }
  wait_for_all(context, tickets);
}

}  // namespace

void gather_direct(CollectiveContext& context, const Operation& operation) {
  if (context.rank() != operation.root) return send_message(context, operation);
  const Part own = part_of(operation, context.rank(), context.world());
  copy_unless_same(bytes_at(operation.output, own.offset_bytes), operation.input.data, own.bytes);
  with_all_others(context, operation, [&](int peer, const Part& part) {
    return context.messenger.receive(peer, bytes_at(operation.output, part.offset_bytes), part.bytes);
  });
}

void scatter_direct(CollectiveContext& context, const Operation& operation) {
  if (context.rank() != operation.root) return receive_message(context, operation);
  with_all_others(context, operation, [&](int peer, const Part& part) {
    return context.messenger.send(peer, bytes_at(operation.input, part.offset_bytes), part.bytes);
  });
  const Part own = part_of(operation, context.rank(), context.world());
  copy_unless_same(operation.output.data, bytes_at(operation.input, own.offset_bytes), own.bytes);
}

void send_message(CollectiveContext& context, const Operation& operation) {
  if (operation.input.bytes == 0) return;
  Ticket ticket = context.messenger.send(operation.root, operation.input.data, operation.input.bytes);
  context.messenger.wait(ticket);
}

void receive_message(CollectiveContext& context, const Operation& operation) {
  if (operation.output.bytes == 0) return;
  Ticket ticket = context.messenger.receive(operation.root, operation.output.data, operation.output.bytes);
  context.messenger.wait(ticket);
}

}  // namespace lockstep::comm
