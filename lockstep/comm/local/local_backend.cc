#include "lockstep/comm/local/local_backend.h"

#include <unistd.h>

#include <array>
#include <thread>

#include "lockstep/base/error.h"
#include "lockstep/comm/host_communicator.h"
#include "lockstep/comm/local/local_fabric.h"
#include "lockstep/comm/shared/shared_channel.h"

namespace lockstep::comm {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::unique_ptr<Communicator> open_replica(std::unique_ptr<LocalFabric> fabric, const Group& group,
                                           const OpenOptions& options) {
  auto channel =
      std::make_unique<shared::SharedChannel>(std::move(fabric), group, base::Deadline(options.timeout));
  return std::make_unique<HostCommunicator>(std::move(channel), options.timeout, options.boards);
}

}  // namespace

Availability LocalBackend::availability() const {
  return {true, "replicas of one process, in place", ""};
}

std::unique_ptr<Communicator> LocalBackend::open(const Group& group, Store&,
                                                 const OpenOptions& options) const {
  if (group.world != 1)
    throw base::ConfigError(
        "backend local joins replicas inside one process and cannot join several workers. Use shm for "
        "workers of one host.");
  return open_replica(std::make_unique<LocalFabric>(LocalFabric::make_control(1), nullptr), group, options);
}

std::vector<std::unique_ptr<Communicator>> open_local_group(
    int replicas, const OpenOptions& options, std::vector<std::unique_ptr<shared::Hands>> device_hands) {
  const LocalFabric::Memory control = LocalFabric::make_control(replicas);
  const std::string host = host_name();
  std::vector<std::unique_ptr<Communicator>> group(static_cast<std::size_t>(replicas));
  device_hands.resize(group.size());
  std::vector<std::thread>
      openers;  // opening is collective: each replica must be opened on a thread of its own
  for (int rank = 0; rank < replicas; ++rank)
    openers.emplace_back([&, rank] {
      const auto index = static_cast<std::size_t>(rank);
      group[index] = open_replica(std::make_unique<LocalFabric>(control, std::move(device_hands[index])),
                                  {rank, replicas, rank, replicas, host}, options);
    });
  for (std::thread& opener : openers) opener.join();
  return group;
}

}  // namespace lockstep::comm
