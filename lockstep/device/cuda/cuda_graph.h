// Work of a stream that is recorded once and then run by the device alone, again and again (a CUDA graph).
//
// Times are known inside it too: an event that is recorded by time() while work is recorded fires in every
// run. As runs are put on the stream before earlier ones have ended, each run gets events of its own, and
// whoever asked for the time is handed them when the run starts. An event takes a microsecond or two, much
// beside a short run: what nobody wants to know in a run is left out of it.
//
// Backends that are loaded at run time use a graph of the program's: all that they call is in the object.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <vector>

#include "lockstep/device/cuda/cuda_stream.h"

namespace lockstep::device::cuda {

class Graph {
 public:
  // Told of every run, with the event of that run, in the order of recording.
  using Timed = std::function<void(std::shared_ptr<Event>)>;
  // Told of every run after those, with the event that fires when all of the run is done.
  using Started = std::function<void(const std::shared_ptr<Event>&)>;

  // Asked before every run.
  using Wanted = std::function<bool()>;

  // From here to end(), what is put on the stream, and on streams that are ordered after it, is recorded
  // instead of run. One recording at a time.
  explicit Graph(cudaStream_t stream);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Ends the recording. Throws DeviceError with the reason where something in it cannot be recorded.
  void end();
  // Puts a run on the stream.
  void run(cudaStream_t stream);

  // The graph that is being recorded, or null. Recording is done by one thread, but backward passes have
  // threads of their own: any thread may ask.
  static Graph* recording();
  // While recording: the time when everything before it on the stream is done; where `wanted` is given, at
  // least in the runs that it wants.
  void time(cudaStream_t stream, Timed timed, Wanted wanted = {});
  void at_every_run(Started started) { started_.push_back(std::move(started)); }

 private:
  struct Time {
    std::shared_ptr<Event> event;  // its first one, which keeps the node's place
    Timed timed;
    Wanted wanted;
  };
  // What was recorded, with or without the events that are not always wanted.
  struct Variant {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t runnable = nullptr;
    std::vector<cudaGraphNode_t> nodes;  // of the times, in their order; null: not in this variant
    void drop() noexcept;
  };
  bool is_spoilt() const;  // something was asked for that cannot be recorded
  void find_nodes();
  void make_lean();
  bool times_are_wanted() const;
  void drop() noexcept;

  cudaStream_t stream_;
  Variant whole_;
  Variant lean_;  // empty where all are always wanted
  std::vector<Time> times_;
  std::vector<Started> started_;
  EventPool events_;
};

}  // namespace lockstep::device::cuda
