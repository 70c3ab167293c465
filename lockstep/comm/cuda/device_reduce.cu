#include "lockstep/comm/cuda/device_reduce.h"

#include <algorithm>

#include "lockstep/comm/cuda/device_reduce.cuh"
#include "lockstep/device/cuda/cuda_error.h"

namespace lockstep::comm {
namespace {

constexpr unsigned kThreads = 256;       // of a block
constexpr std::uint64_t kBlocks = 1024;  // at most: enough to fill the largest GPU

using Kernel = void (*)(DeviceReduceTask);

// By ReduceOp.
template <typename Element>
struct Row {
  static constexpr Kernel kernels[] = {
      device_reduce_kernel<Element, elements::Sum>, device_reduce_kernel<Element, elements::Mean>,
      device_reduce_kernel<Element, elements::Max>, device_reduce_kernel<Element, elements::Min>};
};

// By ElementType.
constexpr const Kernel* kKernels[] = {
    Row<elements::Plain<float>>::kernels,
    Row<elements::Plain<double>>::kernels,
    Row<elements::Float16>::kernels,
    Row<elements::BFloat16>::kernels,
    Row<elements::Plain<std::int32_t>>::kernels,
    Row<elements::Plain<std::int64_t>>::kernels,
    Row<elements::Plain<std::uint8_t>>::kernels,
};

}  // namespace

void reduce_on_device(ReduceOp op, ElementType type, const DeviceReduceTask& task, cudaStream_t stream) {
  if (task.bytes == 0 || task.output_count == 0) return;
  const Kernel kernel = kKernels[static_cast<std::size_t>(type)][static_cast<std::size_t>(op)];
  const std::uint64_t units = (task.bytes + sizeof(uint4) - 1) / sizeof(uint4);
  const auto blocks =
      static_cast<unsigned>(std::clamp<std::uint64_t>((units + kThreads - 1) / kThreads, 1, kBlocks));
  void* arguments[] = {const_cast<DeviceReduceTask*>(&task)};
  device::cuda::check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(kThreads),
                                       arguments, 0, stream),
                      "putting a reduction on a CUDA stream");
}

}  // namespace lockstep::comm
