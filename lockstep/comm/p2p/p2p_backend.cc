// The backend p2p: GPUs whose ranks map each other's memory.
#include <fmt/format.h>

#include <unistd.h>

#include <random>

#include "lockstep/comm/cuda/device_place.h"
#include "lockstep/comm/p2p/p2p_communicator.h"
#include "lockstep/device/cuda/cuda_device.h"

namespace lockstep::comm::p2p {
namespace {

constexpr int kLeastCompute = 75;  // major and minor: the oldest that the kernels are compiled for

std::uint64_t random_number() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

class P2pBackend : public Backend {
 public:
  std::string_view name() const override { return "p2p"; }

  Availability availability() const override {
    const device::cuda::DeviceCount devices = device::cuda::count_devices();
    if (devices.count == 0)
      return {false, devices.why_none,
              "Use shm, gloo or mpi, or a machine with an NVIDIA GPU and its driver."};
    const device::cuda::DeviceFacts facts = device::cuda::facts_of(0);
    if (facts.compute_major * 10 + facts.compute_minor < kLeastCompute)
      return {false, fmt::format("{} is older than the kernels are compiled for", facts.name), "Use nccl."};
    return {true,
            fmt::format(
                "CUDA IPC, {} ({}), CUDA {} (driver {}); for ranks of one host, also several on one device",
                devices.count == 1 ? "1 device" : fmt::format("{} devices", devices.count), facts.name,
                device::cuda::runtime_version(), device::cuda::driver_version()),
            ""};
  }

  std::unique_ptr<Communicator> open(const Group& group, Store& store,
                                     const OpenOptions& options) const override {
    require_one_host(group);
    const base::Deadline deadline(options.timeout);
    const int device = choose_device(name(), group, options);
    StreamPlace place{group, device, options, &store, "p2p/" + options.channel};
    return std::make_unique<P2pCommunicator>(std::move(place), process_number(), deadline);
  }

 private:
  // With the process's id, so that it differs in one that was forked from a user of the backend.
  std::uint64_t process_number() const { return random_ + static_cast<std::uint64_t>(::getpid()); }

  const std::uint64_t random_ = random_number();
};

}  // namespace
}  // namespace lockstep::comm::p2p

extern "C" __attribute__((visibility("default"))) const lockstep::comm::Backend* lockstep_backend_v1() {
  static const lockstep::comm::p2p::P2pBackend backend;
  return &backend;
}
