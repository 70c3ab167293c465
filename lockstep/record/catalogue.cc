#include "lockstep/record/catalogue.h"

#include <array>

namespace lockstep::record {
namespace {

constexpr std::array<BackendEntry, 6> kBackends = {{
    {"local", "local", "replicas inside one process, for dp"},
    {"shm", "shm", "workers of one host through shared memory, reduced in place"},
    {"gloo", "tcp", "libgloo over TCP, on one host or many"},
    {"mpi", "shm/tcp", "Open MPI's own collectives"},
    {"nccl", "nccl", "NVIDIA's NCCL on CUDA streams"},
    {"p2p", "p2p", "GPU workers of one host that map each other's memory: kernels of our own"},
}};

}  // namespace

std::span<const BackendEntry> backend_entries() {
  return kBackends;
}

}  // namespace lockstep::record
