#include "lockstep/device/cuda/graph_nodes.h"

#include <algorithm>
#include <cstddef>

#include "lockstep/device/cuda/cuda_error.h"
#include "lockstep/device/cuda/driver.h"

namespace lockstep::device::cuda {
namespace {

constexpr const char* kLooking = "looking into a CUDA graph";

using Nodes = std::vector<cudaGraphNode_t>;

// Since CUDA 13 edges have properties, which have to be asked for where any has them.
#if CUDART_VERSION >= 13000
using Edges = std::vector<cudaGraphEdgeData>;

template <typename Function>
Nodes neighbours(Function function, cudaGraphNode_t node) {
  std::size_t count = 0;
  check(function(node, nullptr, nullptr, &count), kLooking);
  Nodes nodes(count);
  Edges edges(count);
  check(function(node, nodes.data(), edges.data(), &count), kLooking);
  return nodes;
}

void join(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
  check(cudaGraphAddDependencies(graph, &from, &to, nullptr, 1), "changing a CUDA graph");
}

cudaError_t capture_of(cudaStream_t stream, cudaStreamCaptureStatus* status, cudaGraph_t* graph,
                       const cudaGraphNode_t** after, std::size_t* count) {
  return cudaStreamGetCaptureInfo(stream, status, nullptr, graph, after, nullptr, count);
}
cudaError_t set_after(cudaStream_t stream, cudaGraphNode_t* node) {
  return cudaStreamUpdateCaptureDependencies(stream, node, nullptr, 1, cudaStreamSetCaptureDependencies);
}
#else
template <typename Function>
Nodes neighbours(Function function, cudaGraphNode_t node) {
  std::size_t count = 0;
  check(function(node, nullptr, &count), kLooking);
  Nodes nodes(count);
  check(function(node, nodes.data(), &count), kLooking);
  return nodes;
}

void join(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
  check(cudaGraphAddDependencies(graph, &from, &to, 1), "changing a CUDA graph");
}

cudaError_t capture_of(cudaStream_t stream, cudaStreamCaptureStatus* status, cudaGraph_t* graph,
                       const cudaGraphNode_t** after, std::size_t* count) {
  return cudaStreamGetCaptureInfo(stream, status, nullptr, graph, after, count);
}
cudaError_t set_after(cudaStream_t stream, cudaGraphNode_t* node) {
  return cudaStreamUpdateCaptureDependencies(stream, node, 1, cudaStreamSetCaptureDependencies);
}
#endif

}  // namespace

Nodes nodes_of(cudaGraph_t graph) {
  std::size_t count = 0;
  check(cudaGraphGetNodes(graph, nullptr, &count), kLooking);
  Nodes nodes(count);
  check(cudaGraphGetNodes(graph, nodes.data(), &count), kLooking);
  return nodes;
}

// CUDA's runtime has no name for nodes that wait for memory: the driver is asked.
bool records_an_event(cudaGraphNode_t node) {
  CUgraphNodeType type{};
  check_driver(Driver::get().node_type(node, &type), kLooking);
  return type == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
}

std::optional<Recording> recording_of(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  Recording recording;
  const cudaGraphNode_t* after = nullptr;
  std::size_t count = 0;
  check(capture_of(stream, &status, &recording.graph, &after, &count),
        "asking what a stream is recorded into");
  if (status != cudaStreamCaptureStatusActive) return std::nullopt;
  recording.after.assign(after, after + count);
  return recording;
}

void go_on_after(cudaStream_t stream, cudaGraphNode_t node) {
  check(set_after(stream, &node), "recording a CUDA graph");
}

void take_out(cudaGraph_t graph, cudaGraphNode_t node) {
  const Nodes after = neighbours(cudaGraphNodeGetDependentNodes, node);
  for (cudaGraphNode_t before : neighbours(cudaGraphNodeGetDependencies, node)) {
    const Nodes known = neighbours(cudaGraphNodeGetDependentNodes, before);
    for (cudaGraphNode_t next : after) {
      if (std::find(known.begin(), known.end(), next) == known.end()) join(graph, before, next);
    }
  }
  check(cudaGraphDestroyNode(node), "changing a CUDA graph");
}

}  // namespace lockstep::device::cuda
