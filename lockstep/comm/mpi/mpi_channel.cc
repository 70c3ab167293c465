#include "lockstep/comm/mpi/mpi_channel.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/comm/mpi/mpi_call.h"
#include "lockstep/comm/mpi/mpi_process.h"
#include "lockstep/measure/collective.h"

namespace lockstep::comm {
namespace {

// Messages of one rank in the algorithms whose bytes are estimated: a ring's steps, or one a peer.
std::uint64_t estimated_messages(const Operation& operation, int rank, int world) {
  const auto others = static_cast<std::uint64_t>(world - 1);
  const bool is_root = rank == operation.root;
  switch (operation.collective) {
    case Collective::all_reduce:
      return 2 * others;
    case Collective::reduce_scatter:
    case Collective::all_gather:
    case Collective::barrier:
      return others;
    case Collective::broadcast:
    case Collective::scatter:
      return is_root ? others : 0;
    case Collective::reduce:
    case Collective::gather:
      return is_root ? 0 : 1;
    case Collective::send:
      return 1;
    case Collective::receive:
      return 0;
  }
  return 0;
}

bool is_collective(const Operation& operation) {
  return operation.collective != Collective::send && operation.collective != Collective::receive;
}

}  // namespace

MpiChannel::MpiChannel(MPI_Comm comm, const Group& group, MpiStyle style)
    : comm_(comm), group_(group), style_(style), arrivals_(comm) {
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
}

MpiChannel::~MpiChannel() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  // Freeing is collective: after a failure it would wait for the dead.
  if (finalised != 0 || failed_.load()) return;
  arrivals_.release();
  MPI_Comm_free(&comm_);
}

std::string_view MpiChannel::link() const {
  return group_.local_world == group_.world ? "shm" : "tcp";
}

measure::Movement MpiChannel::execute(const Operation& operation, base::Deadline) {
  if (failed_.load())
    throw base::CommError(base::CommError::Kind::collateral,
                          fmt::format("rank {}: {} over mpi was given up because the run is ending",
                                      group_.rank, describe(operation)));
  try {
    if (is_collective(operation))
      run_agreed(operation);
    else
      run_mpi(mpi_group(), operation);
  } catch (...) {
    abort();
    throw;
  }
  return movement_of(operation);
}

// MPI's own error, a message that is too long, is only what follows from a disagreement.
void MpiChannel::run_agreed(const Operation& operation) {
  arrivals_.arrive(operation);
  try {
    run_mpi(mpi_group(), operation);
  } catch (const base::CommError&) {
    arrivals_.require_agreement();
    throw;
  }
  arrivals_.require_agreement();
}

MpiGroup MpiChannel::mpi_group() const {
  MpiGroup group;
  group.comm = comm_;
  group.rank = group_.rank;
  group.world = group_.world;
  group.style = style_;
  return group;
}

measure::Movement MpiChannel::movement_of(const Operation& operation) const {
  measure::Movement movement;
  if (group_.world == 1) return movement;
  movement.wire_bytes =
      measure::estimated_wire_bytes(operation.collective, payload_bytes(operation, group_.world),
                                    group_.world, group_.rank == operation.root);
  movement.messages = estimated_messages(operation, group_.rank, group_.world);
  movement.estimated = true;
  movement.peer_wait = arrivals_.waited(operation);
  movement.peer_wait_known = arrivals_.sees_everybody();
  return movement;
}

std::unique_ptr<Channel> MpiChannel::split(int colour, int key, base::Deadline) {
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(comm_, colour < 0 ? MPI_UNDEFINED : colour, key, &part), group_.rank,
            "splitting a communicator");
  if (part == MPI_COMM_NULL) return nullptr;
  Group group = group_;
  MPI_Comm_rank(part, &group.rank);
  MPI_Comm_size(part, &group.world);
  MPI_Comm local = MPI_COMM_NULL;
  MPI_Comm_split_type(part, MPI_COMM_TYPE_SHARED, group.rank, MPI_INFO_NULL, &local);
  MPI_Comm_rank(local, &group.local_rank);
  MPI_Comm_size(local, &group.local_world);
  MPI_Comm_free(&local);
  return std::make_unique<MpiChannel>(part, group, style_);
}

void MpiChannel::abort() noexcept {
  failed_.store(true);
  skip_finalise();
}

}  // namespace lockstep::comm
