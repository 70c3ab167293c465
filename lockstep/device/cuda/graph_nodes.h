// The nodes of a CUDA graph that has been recorded, and how one is taken out of it.
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

namespace lockstep::device::cuda {

std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph);

// What came after the node comes after what the node came after.
void take_out(cudaGraph_t graph, cudaGraphNode_t node);

}  // namespace lockstep::device::cuda
