// Chooses the copy that this processor runs best.
#include "lockstep/train/kernels/update.h"

namespace lockstep::train::kernels {

namespace plain {
extern const UpdateKernels kUpdate;
}
namespace avx2 {
extern const UpdateKernels kUpdate;
}
namespace avx512 {
extern const UpdateKernels kUpdate;
}

int runnable_update_kernels(const UpdateKernels* (&kernels)[3]) {
  int count = 0;
  kernels[count++] = &plain::kUpdate;
  if (__builtin_cpu_supports("avx2")) kernels[count++] = &avx2::kUpdate;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
    kernels[count++] = &avx512::kUpdate;
  }
  return count;
}

const UpdateKernels& update_kernels() {
  const UpdateKernels* runnable[3];
  return *runnable[runnable_update_kernels(runnable) - 1];
}

}  // namespace lockstep::train::kernels
