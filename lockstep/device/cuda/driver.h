// What CUDA's driver offers and its runtime does not. The driver is not linked: a program that has none
// starts all the same, and the runtime hands out the entry points of the one that it uses.
#pragma once

#include <cuda.h>

#include <string_view>

namespace lockstep::device::cuda {

// Null where the driver is too old, or there is none.
struct Driver {
  CUresult (*current_context)(CUcontext*) = nullptr;
  CUresult (*device_attribute)(int*, CUdevice_attribute, CUdevice) = nullptr;
  CUresult (*error_name)(CUresult, const char**) = nullptr;
  CUresult (*node_type)(CUgraphNode, CUgraphNodeType*) = nullptr;
  CUresult (*stream_memory)(CUstream, unsigned, CUstreamBatchMemOpParams*, unsigned) = nullptr;
  CUresult (*add_memory_node)(CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t,
                              const CUDA_BATCH_MEM_OP_NODE_PARAMS*) = nullptr;

  static const Driver& get();
};

// Throws DeviceError "<what>: <name of the error>" unless the call succeeded.
void check_driver(CUresult result, std::string_view what);

}  // namespace lockstep::device::cuda
