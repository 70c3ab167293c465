// A backend opens communicators. The registry knows all of them: those built in, and those in shared objects
// that are opened at run time with local symbols. One that is absent says why and what to do.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/comm/communicator.h"
#include "lockstep/comm/rendezvous/store.h"

namespace lockstep::comm {

class OperationBoards;

struct OpenOptions {
  base::Nanoseconds timeout = std::chrono::seconds(300);      // of every operation
  base::Nanoseconds join_timeout = std::chrono::seconds(60);  // of the library's first meeting (mpi)
  std::string channel = "main";    // a name of its own for every communicator opened over one store
  std::string key;                 // the run's, by which its ranks know each other on the network (gloo)
  std::string interface;           // network interface (gloo, mpi between hosts); empty: the backend's choice
  std::string towards;             // an address of another host, where one is known: the run's server's
  std::string algorithm = "auto";  // gloo, mpi: what `lockstep backends` lists
  int device = -1;  // CUDA device (nccl, p2p); negative: the local rank's turn among those there are
  // Puts wrappers of its own around what the backend opens, below the one that records: what they take, a
  // test's disturbance too, is measured like the backend's own. May be empty.
  std::function<std::unique_ptr<Communicator>(std::unique_ptr<Communicator>)> wrap;
  OperationBoards* boards = nullptr;  // where the running operation is shown to other threads; may be null
};

// Whether a backend can be used here; if not, why, and what would change that.
struct Availability {
  bool available = false;
  std::string detail;     // version or facts when available, else the reason
  std::string next_step;  // empty when available
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual Availability availability() const = 0;
  // Collective over the group. The store must outlive the communicator.
  virtual std::unique_ptr<Communicator> open(const Group& group, Store& store,
                                             const OpenOptions& options) const = 0;
};

// What a shared object exports, with C linkage, under the name kBackendEntryPoint.
inline constexpr const char* kBackendEntryPoint = "lockstep_backend_v1";
using BackendEntryPoint = const Backend* (*)();

}  // namespace lockstep::comm
