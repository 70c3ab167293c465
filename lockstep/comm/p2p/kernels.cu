// The kernels by element type and reduction, and how they are launched.
#include "lockstep/comm/p2p/kernels.h"

#include "lockstep/comm/p2p/move_kernels.cuh"
#include "lockstep/comm/p2p/reduce_kernels.cuh"
#include "lockstep/comm/p2p/words_ptx.cuh"
#include "lockstep/device/cuda/cuda_error.h"

namespace lockstep::comm::p2p {
namespace {

using Kernel = void (*)(Task);

template <typename Element>
struct Row {
  static constexpr Kernel kernels[kReduceOps] = {reduce_kernel<Element, Sum>, reduce_kernel<Element, Mean>,
                                                 reduce_kernel<Element, Max>, reduce_kernel<Element, Min>};
};

// By ElementType.
constexpr const Kernel* kReduceKernels[kElementTypeCount] = {
    Row<Plain<float>>::kernels,
    Row<Plain<double>>::kernels,
    Row<Float16>::kernels,
    Row<BFloat16>::kernels,
    Row<Plain<std::int32_t>>::kernels,
    Row<Plain<std::int64_t>>::kernels,
    Row<Plain<std::uint8_t>>::kernels,
};

Kernel kernel_of(Algorithm algorithm, const KernelChoice& choice) {
  if (reduces(algorithm)) return kReduceKernels[static_cast<std::size_t>(choice.type)][choice.reduce_op];
  if (algorithm != Algorithm::message) return move_kernel;
  return choice.sends ? send_kernel : receive_kernel;
}

void load(Kernel kernel) {
  cudaFuncAttributes attributes{};
  device::cuda::check(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)),
                      "loading the kernels of backend p2p");
}

}  // namespace

void load_kernels() {
  for (const Kernel* row : kReduceKernels)
    for (int op = 0; op < kReduceOps; ++op) load(row[op]);
  load(move_kernel);
  load(send_kernel);
  load(receive_kernel);
}

void launch_kernel(const Task& task, const KernelChoice& choice, std::uint32_t blocks, cudaStream_t stream) {
  const Kernel kernel = kernel_of(task.algorithm, choice);
  void* arguments[] = {const_cast<Task*>(&task)};
  device::cuda::check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(kThreads),
                                       arguments, 0, stream),
                      "putting a kernel of backend p2p on a CUDA stream");
}

}  // namespace lockstep::comm::p2p
