#include "lockstep/comm/mpi/mpi_collectives.h"

#include "lockstep/comm/algorithms/bytes.h"
#include "lockstep/comm/mpi/mpi_call_site.h"
#include "lockstep/comm/mpi/mpi_parts.h"

namespace lockstep::comm {
namespace {

void call(const MpiGroup& group, const Operation& operation) {
  const MpiCallSite site(group, operation);
  switch (operation.collective) {
    case Collective::all_reduce:
      return site.all_reduce(operation.input, operation.output);
    case Collective::reduce:
      return site.reduce(operation.input, operation.output, operation.root);
    case Collective::reduce_scatter:
      return mpi_reduce_scatter(group, operation);
    case Collective::all_gather:
      return mpi_all_gather(group, operation);
    case Collective::broadcast:
      return site.broadcast(operation.output, operation.root);
    case Collective::gather:
      return mpi_gather(group, operation);
    case Collective::scatter:
      return mpi_scatter(group, operation);
    case Collective::send:
      return site.send(operation.input, operation.root);
    case Collective::receive:
      return site.receive(operation.output, operation.root);
    case Collective::barrier:
      return check_mpi(MPI_Barrier(group.comm), group.rank, describe(operation));
  }
}

bool reduces(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::reduce ||
         collective == Collective::reduce_scatter;
}

}  // namespace

void run_mpi(const MpiGroup& group, const Operation& operation) {
  const bool is_barrier = operation.collective == Collective::barrier;
  if (!is_barrier && payload_bytes(operation, group.world) == 0) return;
  call(group, operation);
  const bool has_result = operation.collective != Collective::reduce || operation.root == group.rank;
  if (reduces(operation.collective) && has_result)
    finish_bytes(operation, operation.output.data, operation.output.bytes, group.world);
}

}  // namespace lockstep::comm
