// The nodes of a CUDA graph: those of one that has been recorded, and how one is taken out of it; and how one
// is put into a recording that CUDA has no call for.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <vector>

namespace lockstep::device::cuda {

std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph);

// Whether it is a place where an event is recorded.
bool records_an_event(cudaGraphNode_t node);

// What a stream is being recorded into, and which nodes whatever comes next on it would come after.
struct Recording {
  cudaGraph_t graph = nullptr;
  std::vector<cudaGraphNode_t> after;
};
// Nothing while the stream is not recorded.
std::optional<Recording> recording_of(cudaStream_t stream);
// What comes next on the stream comes after this node alone.
void go_on_after(cudaStream_t stream, cudaGraphNode_t node);

// What came after the node comes after what the node came after.
void take_out(cudaGraph_t graph, cudaGraphNode_t node);

}  // namespace lockstep::device::cuda
