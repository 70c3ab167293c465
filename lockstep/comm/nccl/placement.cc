#include "lockstep/comm/nccl/placement.h"

#include <fmt/format.h>

#include <cstdlib>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/device/cuda/cuda_device.h"

namespace lockstep::comm {
namespace {

constexpr const char* kHostId = "NCCL_HOSTID";

int choose_device(const Group& group, const OpenOptions& options) {
  const device::cuda::DeviceCount devices = device::cuda::count_devices();
  if (devices.count == 0)
    throw base::DeviceError("backend nccl cannot be used here: " + devices.why_none +
                            ". Use shm or gloo, or a machine with an NVIDIA GPU.");
  if (options.device < 0) return group.local_rank % devices.count;
  if (options.device >= devices.count)
    throw base::ConfigError(fmt::format("rank {}: there is no CUDA device {}: this process sees {}",
                                        group.rank, options.device, devices.count));
  return options.device;
}

std::string key_of(int rank) {
  return fmt::format("device/{}", rank);
}

std::string wait_for_rank(Store& store, const Group& group, int rank, base::Deadline deadline) {
  try {
    return store.get(key_of(rank), deadline);
  } catch (const base::CommError& error) {
    if (error.kind() != base::CommError::Kind::timed_out) throw;
    throw base::CommError(base::CommError::Kind::timed_out,
                          fmt::format("rank {}: rank {} did not come to open backend nccl in time. Look at "
                                      "its log; it may have ended, or be somewhere else in the program.",
                                      group.rank, rank));
  }
}

}  // namespace

DevicePlace agree_on_devices(const Group& group, Store& store, const OpenOptions& options,
                             base::Deadline deadline) {
  DevicePlace place{choose_device(group, options), false};
  const std::string own = group.host + "/" + device::cuda::facts_of(place.device).uuid;
  store.set(key_of(group.rank), own);
  for (int rank = 0; rank < group.world; ++rank)
    if (rank != group.rank && wait_for_rank(store, group, rank, deadline) == own) place.shared = true;
  return place;
}

void separate_from_sharers(const Group& group, const DevicePlace& place) {
  if (!place.shared || base::environment(kHostId)) return;
  ::setenv(kHostId, fmt::format("{}-rank{}", group.host, group.rank).c_str(), 1);
}

}  // namespace lockstep::comm
