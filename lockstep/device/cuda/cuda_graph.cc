#include "lockstep/device/cuda/cuda_graph.h"

#include <algorithm>
#include <atomic>

#include "lockstep/base/error.h"
#include "lockstep/device/cuda/cuda_error.h"
#include "lockstep/device/cuda/graph_nodes.h"

namespace lockstep::device::cuda {
namespace {

std::atomic<Graph*> in_recording{nullptr};

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
  whole_.drop();
  lean_.drop();
}

void Graph::Variant::drop() noexcept {
  if (runnable != nullptr) static_cast<void>(cudaGraphExecDestroy(runnable));
  if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
}

Graph* Graph::recording() {
  return in_recording.load(std::memory_order_acquire);
}

void Graph::end() {
  in_recording = nullptr;
  check(cudaStreamEndCapture(stream_, &whole_.graph), "recording a CUDA graph");
  find_nodes();
  check(cudaGraphInstantiate(&whole_.runnable, whole_.graph, 0), "making a CUDA graph runnable");
  make_lean();
}

bool Graph::is_spoilt() const {
  cudaStreamCaptureStatus status{};
  return cudaStreamIsCapturing(stream_, &status) == cudaSuccess &&
         status == cudaStreamCaptureStatusInvalidated;
}

void Graph::time(cudaStream_t stream, Timed timed, Wanted wanted) {
  // Whoever spoilt it has thrown, or end() will: spans that are left on the way must not throw another one.
  if (is_spoilt()) return;
  std::shared_ptr<Event> event = events_.take();
  check(cudaEventRecordWithFlags(event->get(), stream, cudaEventRecordExternal),
        "recording an event in a CUDA graph");
  times_.push_back({std::move(event), std::move(timed), std::move(wanted)});
}

void Graph::find_nodes() {
  whole_.nodes.resize(times_.size());
  for (cudaGraphNode_t node : nodes_of(whole_.graph)) {
    if (!records_an_event(node)) continue;
    cudaEvent_t event = nullptr;
    check(cudaGraphEventRecordNodeGetEvent(node, &event), "looking into a CUDA graph");
    const auto found = std::find_if(times_.begin(), times_.end(),
                                    [event](const Time& time) { return time.event->get() == event; });
    if (found != times_.end()) whole_.nodes[static_cast<std::size_t>(found - times_.begin())] = node;
  }
}

void Graph::make_lean() {
  if (std::none_of(times_.begin(), times_.end(), [](const Time& time) { return bool(time.wanted); })) return;
  check(cudaGraphClone(&lean_.graph, whole_.graph), "copying a CUDA graph");
  for (std::size_t i = 0; i < times_.size(); ++i) {
    cudaGraphNode_t copy = nullptr;
    check(cudaGraphNodeFindInClone(&copy, whole_.nodes[i], lean_.graph), "looking into a CUDA graph");
    lean_.nodes.push_back(times_[i].wanted ? nullptr : copy);
    if (times_[i].wanted) take_out(lean_.graph, copy);
  }
  check(cudaGraphInstantiate(&lean_.runnable, lean_.graph, 0), "making a CUDA graph runnable");
}

bool Graph::times_are_wanted() const {
  return std::any_of(times_.begin(), times_.end(),
                     [](const Time& time) { return time.wanted && time.wanted(); });
}

void Graph::run(cudaStream_t stream) {
  const Variant& variant = lean_.runnable == nullptr || times_are_wanted() ? whole_ : lean_;
  std::vector<std::shared_ptr<Event>> events(times_.size());
  for (std::size_t i = 0; i < times_.size(); ++i) {
    if (variant.nodes[i] == nullptr) continue;
    events[i] = events_.take();
    check(cudaGraphExecEventRecordNodeSetEvent(variant.runnable, variant.nodes[i], events[i]->get()),
          "giving a CUDA graph its events");
  }
  check(cudaGraphLaunch(variant.runnable, stream), "running a CUDA graph");
  for (std::size_t i = 0; i < times_.size(); ++i) {
    if (events[i] != nullptr) times_[i].timed(std::move(events[i]));
  }
  if (started_.empty()) return;
  const std::shared_ptr<Event> ended = events_.take();
  ended->record(stream);
  for (const Started& started : started_) started(ended);
}

}  // namespace lockstep::device::cuda
