#include "lockstep/comm/cuda/device_place.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/device/cuda/cuda_device.h"

namespace lockstep::comm {

int choose_device(std::string_view backend, const Group& group, const OpenOptions& options) {
  const device::cuda::DeviceCount devices = device::cuda::count_devices();
  if (devices.count == 0)
    throw base::DeviceError(
        fmt::format("backend {} cannot be used here: {}. Use shm or gloo, or a machine with "
                    "an NVIDIA GPU.",
                    backend, devices.why_none));
  if (options.device < 0) return group.local_rank % devices.count;
  if (options.device >= devices.count)
    throw base::ConfigError(fmt::format("rank {}: there is no CUDA device {}: this process sees {}",
                                        group.rank, options.device, devices.count));
  return options.device;
}

std::string value_of_rank(std::string_view backend, Store& store, const Group& group, int rank,
                          const std::string& key, base::Deadline deadline) {
  try {
    return store.get(key, deadline);
  } catch (const base::CommError& error) {
    if (error.kind() != base::CommError::Kind::timed_out) throw;
    throw base::CommError(base::CommError::Kind::timed_out,
                          fmt::format("rank {}: rank {} did not come to open backend {} in time. Look at "
                                      "its log; it may have ended, or be somewhere else in the program.",
                                      group.rank, rank, backend));
  }
}

DevicePlace agree_on_devices(std::string_view backend, const Group& group, Store& store,
                             const OpenOptions& options, base::Deadline deadline) {
  const auto key_of = [](int rank) { return fmt::format("device/{}", rank); };
  DevicePlace place{choose_device(backend, group, options), false};
  const std::string own = group.host + "/" + device::cuda::facts_of(place.device).uuid;
  store.set(key_of(group.rank), own);
  for (int rank = 0; rank < group.world; ++rank)
    if (rank != group.rank && value_of_rank(backend, store, group, rank, key_of(rank), deadline) == own)
      place.shared = true;
  return place;
}

}  // namespace lockstep::comm
