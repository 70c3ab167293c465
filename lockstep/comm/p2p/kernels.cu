// The kernels by element type and reduction, and how they are launched.
#include "lockstep/comm/p2p/kernels.h"

#include "lockstep/comm/p2p/move_kernels.cuh"
#include "lockstep/comm/p2p/phase_kernels.cuh"
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

using PhaseKernel = void (*)(Task, Phase);

template <typename Element>
struct PhaseRow {
  static constexpr PhaseKernel kernels[kReduceOps] = {
      reduce_phase_kernel<Element, Sum>, reduce_phase_kernel<Element, Mean>,
      reduce_phase_kernel<Element, Max>, reduce_phase_kernel<Element, Min>};
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

constexpr const PhaseKernel* kReducePhaseKernels[kElementTypeCount] = {
    PhaseRow<Plain<float>>::kernels,
    PhaseRow<Plain<double>>::kernels,
    PhaseRow<Float16>::kernels,
    PhaseRow<BFloat16>::kernels,
    PhaseRow<Plain<std::int32_t>>::kernels,
    PhaseRow<Plain<std::int64_t>>::kernels,
    PhaseRow<Plain<std::uint8_t>>::kernels,
};

Kernel kernel_of(Algorithm algorithm, const KernelChoice& choice) {
  if (reduces(algorithm)) return kReduceKernels[static_cast<std::size_t>(choice.type)][choice.reduce_op];
  if (algorithm != Algorithm::message) return move_kernel;
  return choice.sends ? send_kernel : receive_kernel;
}

template <typename AnyKernel>
void load(AnyKernel kernel) {
  cudaFuncAttributes attributes{};
  device::cuda::check(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)),
                      "loading the kernels of backend p2p");
}

template <typename AnyKernel>
void launch(AnyKernel kernel, std::uint32_t blocks, unsigned threads, void** arguments, cudaStream_t stream) {
  device::cuda::check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(threads),
                                       arguments, 0, stream),
                      "putting a kernel of backend p2p on a CUDA stream");
}

}  // namespace

void load_kernels() {
  for (const Kernel* row : kReduceKernels)
    for (int op = 0; op < kReduceOps; ++op) load(row[op]);
  for (const PhaseKernel* row : kReducePhaseKernels)
    for (int op = 0; op < kReduceOps; ++op) load(row[op]);
  load(look_kernel);
  load(move_phase_kernel);
  load(move_kernel);
  load(send_kernel);
  load(receive_kernel);
}

void launch_kernel(const Task& task, const KernelChoice& choice, std::uint32_t blocks, cudaStream_t stream) {
  void* arguments[] = {const_cast<Task*>(&task)};
  launch(kernel_of(task.algorithm, choice), blocks, kThreads, arguments, stream);
}

void launch_phase(const Task& task, const Phase& phase, const KernelChoice& choice, std::uint32_t blocks,
                  cudaStream_t stream) {
  const PhaseKernel kernel =
      phase.step == Step::reduce
          ? kReducePhaseKernels[static_cast<std::size_t>(choice.type)][choice.reduce_op]
          : move_phase_kernel;
  void* arguments[] = {const_cast<Task*>(&task), const_cast<Phase*>(&phase)};
  if (phase.step == Step::note) blocks = 1;
  if (looks_ahead(phase, blocks)) launch(look_kernel, 1, kMostRanks, arguments, stream);
  launch(kernel, blocks, kThreads, arguments, stream);
}

}  // namespace lockstep::comm::p2p
