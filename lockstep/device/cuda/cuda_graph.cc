#include "lockstep/device/cuda/cuda_graph.h"

#include <algorithm>
#include <atomic>

#include "lockstep/base/error.h"
#include "lockstep/device/cuda/cuda_error.h"

namespace lockstep::device::cuda {
namespace {

std::atomic<Graph*> in_recording{nullptr};

std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
  std::size_t count = 0;
  check(cudaGraphGetNodes(graph, nullptr, &count), "looking into a CUDA graph");
  std::vector<cudaGraphNode_t> nodes(count);
  check(cudaGraphGetNodes(graph, nodes.data(), &count), "looking into a CUDA graph");
  return nodes;
}

}  // namespace

// Other threads (a loader that pins memory, one that watches communication) go on as ever.
Graph::Graph(cudaStream_t stream) : stream_(stream) {
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "beginning to record a CUDA graph");
  in_recording = this;
}

Graph::~Graph() {
  drop();
}

void Graph::drop() noexcept {
  if (in_recording.load() == this) {  // recording was given up
    in_recording = nullptr;
    cudaGraph_t unfinished = nullptr;
    static_cast<void>(cudaStreamEndCapture(stream_, &unfinished));
    if (unfinished != nullptr) static_cast<void>(cudaGraphDestroy(unfinished));
    static_cast<void>(cudaGetLastError());
  }
  if (runnable_ != nullptr) static_cast<void>(cudaGraphExecDestroy(runnable_));
  if (graph_ != nullptr) static_cast<void>(cudaGraphDestroy(graph_));
}

Graph* Graph::recording() {
  return in_recording.load(std::memory_order_acquire);
}

void Graph::end() {
  in_recording = nullptr;
  check(cudaStreamEndCapture(stream_, &graph_), "recording a CUDA graph");
  find_nodes();
  check(cudaGraphInstantiate(&runnable_, graph_, 0), "making a CUDA graph runnable");
}

void Graph::time(cudaStream_t stream, Timed timed) {
  std::shared_ptr<Event> event = events_.take();
  check(cudaEventRecordWithFlags(event->get(), stream, cudaEventRecordExternal),
        "recording an event in a CUDA graph");
  times_.push_back({std::move(event), std::move(timed), nullptr});
}

void Graph::find_nodes() {
  for (cudaGraphNode_t node : nodes_of(graph_)) {
    cudaGraphNodeType type{};
    check(cudaGraphNodeGetType(node, &type), "looking into a CUDA graph");
    if (type != cudaGraphNodeTypeEventRecord) continue;
    cudaEvent_t event = nullptr;
    check(cudaGraphEventRecordNodeGetEvent(node, &event), "looking into a CUDA graph");
    const auto found = std::find_if(times_.begin(), times_.end(),
                                    [event](const Time& time) { return time.event->get() == event; });
    if (found != times_.end()) found->node = node;
  }
}

void Graph::run(cudaStream_t stream) {
  std::vector<std::shared_ptr<Event>> events;
  events.reserve(times_.size());
  for (const Time& time : times_) {
    events.push_back(events_.take());
    check(cudaGraphExecEventRecordNodeSetEvent(runnable_, time.node, events.back()->get()),
          "giving a CUDA graph its events");
  }
  check(cudaGraphLaunch(runnable_, stream), "running a CUDA graph");
  for (std::size_t i = 0; i < times_.size(); ++i) times_[i].timed(std::move(events[i]));
  if (started_.empty()) return;
  const std::shared_ptr<Event> ended = events_.take();
  ended->record(stream);
  for (const Started& started : started_) started(ended);
}

}  // namespace lockstep::device::cuda
