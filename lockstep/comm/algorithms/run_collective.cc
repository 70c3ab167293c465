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

void run_collective(CollectiveContext& context, const Operation& operation) {
  if (context.world() == 1) return run_alone(operation);
  if (operation.collective == Collective::barrier) return barrier_dissemination(context);
  const std::uint64_t payload = payload_bytes(operation, context.world());
  if (payload == 0) return;
  const bool is_small = payload <= context.options.small_bytes;
  switch (operation.collective) {
    case Collective::all_reduce:
      return is_small ? all_reduce_doubling(context, operation) : all_reduce_ring(context, operation);
    case Collective::reduce:
      return is_small ? reduce_tree(context, operation) : reduce_chain(context, operation);
    case Collective::reduce_scatter:
      return reduce_scatter_ring(context, operation);
    case Collective::all_gather:
      return is_small ? all_gather_direct(context, operation) : all_gather_ring(context, operation);
    case Collective::broadcast:
      return is_small ? broadcast_tree(context, operation) : broadcast_chain(context, operation);
    case Collective::gather:
      return gather_direct(context, operation);
    case Collective::scatter:
      return scatter_direct(context, operation);
    case Collective::send:
      return send_message(context, operation);
    case Collective::receive:
      return receive_message(context, operation);
    case Collective::barrier:
      return;
  }
}

}  // namespace lockstep::comm
