// For processors without variants of ours: the one copy there is.
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

const AttentionKernels& attention_kernels() {
  return plain::kAttention;
}

const PoolKernels& pool_kernels() {
  return plain::kPool;
}

const RowwiseKernels& rowwise_kernels() {
  return plain::kRowwise;
}

const SkinnyKernels& skinny_kernels() {
  return plain::kSkinny;
}

}  // namespace lockstep::models::kernels
