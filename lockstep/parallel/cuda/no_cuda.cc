#include "lockstep/base/error.h"
#include "lockstep/parallel/compute_queue.h"

namespace lockstep::parallel {

std::unique_ptr<ComputeQueue> cuda_compute_queue(const at::Device&) {
  throw base::DeviceError(
      "this worker was built without CUDA: " LOCKSTEP_WHY_ABSENT
      ". Build it on a machine with CUDA and a PyTorch that has it (make TORCH=pip), or use --device cpu.");
}

}  // namespace lockstep::parallel
