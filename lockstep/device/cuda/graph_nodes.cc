#include "lockstep/device/cuda/graph_nodes.h"

#include <algorithm>
#include <cstddef>

#include "lockstep/device/cuda/cuda_error.h"

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
#endif

}  // namespace

Nodes nodes_of(cudaGraph_t graph) {
  std::size_t count = 0;
  check(cudaGraphGetNodes(graph, nullptr, &count), kLooking);
  Nodes nodes(count);
  check(cudaGraphGetNodes(graph, nodes.data(), &count), kLooking);
  return nodes;
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
