// For processors without variants of ours: the one copy there is.
#include "lockstep/models/kernels/attention.h"

namespace lockstep::models::kernels {

namespace plain {
extern const AttentionKernels kAttention;
}

const AttentionKernels& attention_kernels() {
  return plain::kAttention;
}

}  // namespace lockstep::models::kernels
