// Chooses the copy that this processor runs best.
#include "lockstep/models/kernels/attention.h"
#include "lockstep/models/kernels/pool.h"
#include "lockstep/models/kernels/rowwise.h"
#include "lockstep/models/kernels/skinny.h"

namespace lockstep::models::kernels {

namespace plain {
extern const AttentionKernels kAttention;
extern const PoolKernels kPool;
extern const RowwiseKernels kRowwise;
extern const SkinnyKernels kSkinny;
}  // namespace plain
namespace avx2 {
extern const AttentionKernels kAttention;
extern const PoolKernels kPool;
extern const RowwiseKernels kRowwise;
extern const SkinnyKernels kSkinny;
}  // namespace avx2
namespace avx512 {
extern const AttentionKernels kAttention;
extern const PoolKernels kPool;
extern const RowwiseKernels kRowwise;
extern const SkinnyKernels kSkinny;
}  // namespace avx512

namespace {

template <class Kernels>
const Kernels& best(const Kernels& plain, const Kernels& avx2, const Kernels& avx512) {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq")) {
    return avx512;
  }
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? avx2 : plain;
}

}  // namespace

const AttentionKernels& attention_kernels() {
  return best(plain::kAttention, avx2::kAttention, avx512::kAttention);
}

const PoolKernels& pool_kernels() {
  return best(plain::kPool, avx2::kPool, avx512::kPool);
}

const RowwiseKernels& rowwise_kernels() {
  return best(plain::kRowwise, avx2::kRowwise, avx512::kRowwise);
}

const SkinnyKernels& skinny_kernels() {
  return best(plain::kSkinny, avx2::kSkinny, avx512::kSkinny);
}

}  // namespace lockstep::models::kernels
