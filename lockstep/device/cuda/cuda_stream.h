// CUDA streams and events that are given back when their owner goes.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <utility>

#include "lockstep/base/clock.h"

namespace lockstep::device::cuda {

class Event {
 public:
  Event();  // on the current device; can be timed
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  cudaEvent_t get() const { return event_; }
  void record(cudaStream_t stream);
  // Whether the work recorded before it is complete. Throws DeviceError when that work failed on the device.
  bool done() const;

 private:
  cudaEvent_t event_ = nullptr;
};

// Device time between two complete events.
base::Nanoseconds elapsed(const Event& begin, const Event& end);

// Keeps events for reuse, since making one costs more than recording it. An event goes back to the pool when
// its last holder lets go. Any thread.
class EventPool {
 public:
  EventPool();
  std::shared_ptr<Event> take();

 private:
  struct Shelf;
  std::shared_ptr<Shelf> shelf_;  // shared with the events that are out, which may outlive the pool
};

// A stream of our own, not ordered with the default stream, or a view of somebody else's (torch's).
class Stream {
 public:
  static Stream make();  // on the current device
  static Stream borrow(cudaStream_t stream) { return Stream(stream, false); }
  Stream(Stream&& other) noexcept
      : stream_(std::exchange(other.stream_, nullptr)), owned_(std::exchange(other.owned_, false)) {}
  Stream& operator=(Stream&&) = delete;
  ~Stream();

  cudaStream_t get() const { return stream_; }
  // What is put on the stream from now on starts only when `event` is complete.
  void wait_for(cudaEvent_t event);
  // Holds the stream for a while without keeping the device busy: a host function that sleeps. (A kernel that
  // spins would take the whole device's time slice from ranks that share the device.)
  void delay(base::Nanoseconds duration);

 private:
  Stream(cudaStream_t stream, bool owned) : stream_(stream), owned_(owned) {}
  cudaStream_t stream_ = nullptr;
  bool owned_ = false;
};

}  // namespace lockstep::device::cuda
