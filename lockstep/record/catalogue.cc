#include "lockstep/record/catalogue.h"

#include <array>

namespace lockstep::record {
namespace {

constexpr std::array<BackendEntry, 5> kBackends = {{
    {"local", "local", "replicas inside one process, for dp"},
    {"shm", "shm", "workers of one host through shared memory, reduced in place"},
    {"gloo", "tcp", "libgloo over TCP, on one host or many"},
    {"mpi", "mpi", "Open MPI's own collectives"},
    {"nccl", "nccl", "NVIDIA's NCCL on CUDA streams"},
}};

}  // namespace

std::span<const BackendEntry> backend_entries() {
  return kBackends;
}

}  // namespace lockstep::record
