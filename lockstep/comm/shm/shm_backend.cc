#include "lockstep/comm/shm/shm_backend.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "lockstep/base/error.h"
#include "lockstep/base/unique_fd.h"
#include "lockstep/comm/host_communicator.h"
#include "lockstep/comm/reduction/reduction.h"
#include "lockstep/comm/shared/shared_channel.h"
#include "lockstep/comm/shm/shm_fabric.h"

namespace lockstep::comm {
namespace {

std::string text_of(const shared::Invitation& invitation) {
  return std::string(reinterpret_cast<const char*>(invitation.data()), invitation.size());
}

shared::Invitation invitation_of(const std::string& text) {
  shared::Invitation invitation{};
  if (text.size() != invitation.size())
    throw base::CommError(base::CommError::Kind::failed,
                          "shared memory: rank 0 published a malformed invitation");
  std::memcpy(invitation.data(), text.data(), invitation.size());
  return invitation;
}

// Rank 0 creates the control block and publishes how to map it.
std::unique_ptr<shared::Fabric> join_fabric(const Group& group, Store& store, base::Deadline deadline) {
  if (group.rank != 0)
    return std::make_unique<ShmFabric>(invitation_of(store.get("invitation", deadline)), group.rank,
                                       group.world);
  auto fabric = std::make_unique<ShmFabric>(0, group.world);
  store.set("invitation", text_of(fabric->invitation()));
  return fabric;
}

}  // namespace

Availability ShmBackend::availability() const {
  const base::UniqueFd probe(::memfd_create("lockstep", MFD_CLOEXEC));
  if (!probe) return {false, "memfd_create: " + base::errno_text(), "Use a Linux kernel of 3.17 or later."};
  return {true, fmt::format("in place, {} kernels", reduction_instruction_set()), ""};
}

std::unique_ptr<Communicator> ShmBackend::open(const Group& group, Store& store,
                                               const OpenOptions& options) const {
  if (group.local_world != group.world)
    throw base::ConfigError(fmt::format(
        "backend shm joins workers of one host, but only {} of {} are on this one. Use gloo or mpi.",
        group.local_world, group.world));
  const base::Deadline deadline(options.timeout);
  PrefixStore prefixed(store, "shm/" + options.channel);
  auto channel =
      std::make_unique<shared::SharedChannel>(join_fabric(group, prefixed, deadline), group, deadline);
  return std::make_unique<HostCommunicator>(std::move(channel), options.timeout, options.boards);
}

}  // namespace lockstep::comm
