#include "lockstep/comm/nccl/nccl_backend.h"

#include <fmt/format.h>

#include <cstdlib>

#include "lockstep/base/error.h"
#include "lockstep/comm/cuda/device_place.h"
#include "lockstep/comm/nccl/shared_device.h"
#include "lockstep/device/cuda/cuda_device.h"

namespace lockstep::comm {
namespace {

std::string describe_devices(int count) {
  const std::string devices = count == 1 ? "1 device" : fmt::format("{} devices", count);
  return fmt::format("{} ({})", devices, device::cuda::facts_of(0).name);
}

}  // namespace

NcclBackend::NcclBackend() : lookup_(find_nccl()), process_(std::make_shared<NcclProcess>()) {
  process_->library = lookup_.library;
}

Availability NcclBackend::availability() const {
  if (lookup_.library == nullptr) return {false, lookup_.why_absent, lookup_.next_step};
  const device::cuda::DeviceCount devices = device::cuda::count_devices();
  if (devices.count == 0)
    return {false, devices.why_none, "Use shm, gloo or mpi, or a machine with an NVIDIA GPU and its driver."};
  return {
      true,
      fmt::format("NCCL {} ({}), {}, CUDA {} (driver {}); ranks that share a device are connected by sockets",
                  lookup_.library->version_text(), lookup_.library->file, describe_devices(devices.count),
                  device::cuda::runtime_version(), device::cuda::driver_version()),
      ""};
}

std::unique_ptr<Communicator> NcclBackend::open(const Group& group, Store& store,
                                                const OpenOptions& options) const {
  if (lookup_.library == nullptr)
    throw base::DeviceError("backend nccl cannot be used here: " + lookup_.why_absent + ". " +
                            lookup_.next_step);
  if (!options.interface.empty()) ::setenv("NCCL_SOCKET_IFNAME", options.interface.c_str(), 0);
  const base::Deadline deadline(options.timeout);
  const std::string prefix = "nccl/" + options.channel;
  PrefixStore own_store(store, prefix);
  const DevicePlace place = agree_on_devices(name(), group, own_store, options, deadline);
  const bool any = any_share_a_device(group, place, own_store, deadline);
  return std::make_unique<NcclCommunicator>(NcclParts{process_, place.shared, any},
                                            StreamPlace{group, place.device, options, &store, prefix},
                                            deadline);
}

}  // namespace lockstep::comm

extern "C" __attribute__((visibility("default"))) const lockstep::comm::Backend* lockstep_backend_v1() {
  static const lockstep::comm::NcclBackend backend;
  return &backend;
}
