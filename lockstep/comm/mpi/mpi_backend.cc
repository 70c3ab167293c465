// The backend mpi: Open MPI, as a plugin.
#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/comm/backend.h"
#include "lockstep/comm/host_communicator.h"
#include "lockstep/comm/mpi/mpi_call.h"
#include "lockstep/comm/mpi/mpi_channel.h"
#include "lockstep/comm/mpi/mpi_process.h"
#include "lockstep/comm/operation_board.h"

namespace lockstep::comm {
namespace {

const std::vector<std::string>& algorithms() {
  static const std::vector<std::string> names = {"auto", "blocking", "non-blocking"};
  return names;
}

// Blocking calls (in place where input and output are one) were the fastest at 4 KB with Open MPI 4.1; larger
// sizes have not been measured on a quiet machine, hence the choice.
MpiStyle style_named(const std::string& name) {
  if (name == "auto" || name == "blocking") return MpiStyle::blocking;
  if (name == "non-blocking") return MpiStyle::non_blocking;
  throw base::UsageError(fmt::format("mpi has no algorithm '{}'.{} There are: {}.", name,
                                     base::suggestion(name, algorithms()), base::join(algorithms(), ", ")));
}

// A communicator of the run's ranks in the run's order.
MPI_Comm own_communicator(const Group& group) {
  int world = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  if (world != group.world)
    throw base::DeviceError(
        fmt::format("backend mpi: the run has {} ranks, but mpirun started {}.", group.world, world));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm own = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(MPI_COMM_WORLD, 0, group.rank, &own), group.rank, "opening a communicator");
  return own;
}

class MpiBackend : public Backend {
 public:
  std::string_view name() const override { return "mpi"; }

  Availability availability() const override {
    return {true,
            fmt::format("{}; {}; algorithms: {}", mpi_version(),
                        started_by_mpirun() ? "started by mpirun" : "ranks are started through mpirun",
                        base::join(algorithms(), ", ")),
            {}};
  }

  std::unique_ptr<Communicator> open(const Group& group, Store&, const OpenOptions& options) const override {
    const MpiStyle style = style_named(options.algorithm);
    {
      const CallOnBoard meeting(options.boards, "MPI_Init", "mpi", options.join_timeout);
      start_mpi(group, options.interface);
    }
    const CallOnBoard meeting(options.boards, "MPI_Comm_split", "mpi", options.join_timeout);
    auto channel = std::make_unique<MpiChannel>(own_communicator(group), group, style);
    return std::make_unique<HostCommunicator>(std::move(channel), options.timeout, options.boards);
  }
};

}  // namespace
}  // namespace lockstep::comm

extern "C" __attribute__((visibility("default"))) const lockstep::comm::Backend* lockstep_backend_v1() {
  static const lockstep::comm::MpiBackend backend;
  return &backend;
}
