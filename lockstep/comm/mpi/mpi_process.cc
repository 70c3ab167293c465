#include "lockstep/comm/mpi/mpi_process.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"

namespace lockstep::comm {
namespace {

// MPI itself is one per process, so what we know of it is too.
struct ProcessState {
  std::once_flag started;
  std::atomic<bool> finalise{true};
};

ProcessState& state() {
  static ProcessState process_state;
  return process_state;
}

// mpirun calls a rank that ends without MPI_Finalize a failure, so a process that ends well finalises. One
// that saw a peer fail does not: finalising waits for the peer.
void finalise_at_exit() {
  int initialised = 0, finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  if (initialised != 0 && finalised == 0 && state().finalise.load()) MPI_Finalize();
}

// Open MPI reads its settings from the environment when it is initialised. What the user or mpirun has set
// stays; that mpirun itself and the connections between hosts listen at all addresses cannot be set.
void confine(const Group& group, const std::string& interface) {
  const auto set = [](const char* name, const std::string& value) { ::setenv(name, value.c_str(), 0); };
  if (group.local_world == group.world) {
    set("OMPI_MCA_btl", "self,vader");
    set("OMPI_MCA_pml", "ob1");
  } else if (!interface.empty()) {
    set("OMPI_MCA_btl_tcp_if_include", interface);
  }
}

void initialise() {
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised != 0) return;
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS)
    throw base::DeviceError("MPI_Init_thread failed; mpirun's messages above say why");
  if (provided < MPI_THREAD_MULTIPLE)
    throw base::DeviceError(
        "this MPI was built without MPI_THREAD_MULTIPLE, which independent communicators need");
  std::atexit(finalise_at_exit);
}

}  // namespace

bool started_by_mpirun() {
  return base::environment("OMPI_COMM_WORLD_SIZE").has_value();
}

void start_mpi(const Group& group, const std::string& interface) {
  if (!started_by_mpirun())
    throw base::DeviceError(
        "backend mpi: this process was not started by mpirun, and Open MPI cannot connect such processes. "
        "Use "
        "`lockstep ... --backend mpi --workers N`, which starts itself under mpirun, or `mpirun -n N "
        "lockstep "
        "...`.");
  std::call_once(state().started, [&] {
    confine(group, interface);
    initialise();
  });
}

void skip_finalise() noexcept {
  state().finalise.store(false);
}

std::string mpi_version() {
  // The library's own words go on with its build host: up to the first comma is name and version.
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string words(text, static_cast<std::size_t>(length));
  return words.substr(0, words.find(','));
}

}  // namespace lockstep::comm
