// Chooses the algorithm of an operation. Every rank must choose the same one, so the choice depends only on
// what all ranks know: the collective, the payload and the number of ranks.
#include "lockstep/comm/algorithms/bytes.h"
#include "lockstep/comm/algorithms/collectives.h"

namespace lockstep::comm {
namespace {

// One rank alone has nothing to move but its input to its output.
void run_alone(const Operation& operation) {
  if (operation.output.data != nullptr && operation.input.data != nullptr)
    copy_unless_same(operation.output.data, operation.input.data, operation.output.bytes);
}

}  // namespace

void run_collective(Exchange& exchange, const Operation& operation) {
  if (exchange.world() == 1) return run_alone(operation);
  if (operation.collective == Collective::barrier) return barrier_dissemination(exchange);
  const std::uint64_t payload = payload_bytes(operation, exchange.world());
  if (payload == 0) return;
  const bool is_small = payload <= exchange.options.small_bytes;
  switch (operation.collective) {
    case Collective::all_reduce:
      return is_small ? all_reduce_doubling(exchange, operation) : all_reduce_ring(exchange, operation);
    case Collective::reduce:
      return is_small ? reduce_tree(exchange, operation) : reduce_chain(exchange, operation);
    case Collective::reduce_scatter:
      return reduce_scatter_ring(exchange, operation);
    case Collective::all_gather:
      return is_small ? all_gather_direct(exchange, operation) : all_gather_ring(exchange, operation);
    case Collective::broadcast:
      return is_small ? broadcast_tree(exchange, operation) : broadcast_chain(exchange, operation);
    case Collective::gather:
      return gather_direct(exchange, operation);
    case Collective::scatter:
      return scatter_direct(exchange, operation);
    case Collective::send:
      return send_message(exchange, operation);
    case Collective::receive:
      return receive_message(exchange, operation);
    case Collective::barrier:
      return;
  }
}

}  // namespace lockstep::comm
