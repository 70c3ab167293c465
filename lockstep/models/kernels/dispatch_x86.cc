// Chooses the copy that this processor runs best.
#include "lockstep/models/kernels/attention.h"

namespace lockstep::models::kernels {

namespace plain {
extern const AttentionKernels kAttention;
}
namespace avx2 {
extern const AttentionKernels kAttention;
}
namespace avx512 {
extern const AttentionKernels kAttention;
}

const AttentionKernels& attention_kernels() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq")) {
    return avx512::kAttention;
  }
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? avx2::kAttention
                                                                         : plain::kAttention;
}

}  // namespace lockstep::models::kernels
