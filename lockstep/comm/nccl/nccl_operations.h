// How each operation is said in NCCL's calls. NCCL has no gather, scatter or unequal parts: those are groups
// of sends and receives, or of one broadcast or reduction per rank.
#pragma once

#include "lockstep/comm/communicator.h"
#include "lockstep/comm/nccl/nccl_handle.h"

namespace lockstep::comm {

// Where an operation is to be put.
struct NcclIssue {
  const Group& group;
  cudaStream_t stream;
  void* token;  // 4 bytes on the device, for barriers
  base::Deadline deadline;
};

// Puts one valid operation, whose buffers are all on the device, on the stream. Mean is NCCL's average: for
// floats every input is multiplied by 1/world before summing (exact for worlds that are powers of two), for
// integers the sum is divided, rounding towards zero.
void issue_operation(NcclHandle& handle, const Operation& operation, const NcclIssue& to);

}  // namespace lockstep::comm
