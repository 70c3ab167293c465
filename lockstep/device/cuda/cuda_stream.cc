#include "lockstep/device/cuda/cuda_stream.h"

#include <mutex>
#include <thread>
#include <vector>

#include "lockstep/device/cuda/cuda_error.h"

namespace lockstep::device::cuda {

Event::Event() {
  check(cudaEventCreateWithFlags(&event_, cudaEventDefault), "making a CUDA event");
}

Event::~Event() {
  static_cast<void>(cudaEventDestroy(event_));
}

void Event::record(cudaStream_t stream) {
  check(cudaEventRecord(event_, stream), "recording a CUDA event");
}

bool Event::done() const {
  const cudaError_t result = cudaEventQuery(event_);
  if (result == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());  // "not ready" is no error to leave behind
    return false;
  }
  check(result, "work on a CUDA stream failed");
  return true;
}

base::Nanoseconds elapsed(const Event& begin, const Event& end) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "reading the time between CUDA events");
  return base::from_seconds(static_cast<double>(milliseconds) / 1e3);
}

struct EventPool::Shelf {
  std::mutex mutex;
  std::vector<std::unique_ptr<Event>> events;

  std::unique_ptr<Event> take() {
    const std::lock_guard lock(mutex);
    if (events.empty()) return nullptr;
    std::unique_ptr<Event> event = std::move(events.back());
    events.pop_back();
    return event;
  }
  void put_back(std::unique_ptr<Event> event) {
    const std::lock_guard lock(mutex);
    events.push_back(std::move(event));
  }
};

EventPool::EventPool() : shelf_(std::make_shared<Shelf>()) {}

std::shared_ptr<Event> EventPool::take() {
  std::unique_ptr<Event> event = shelf_->take();
  if (event == nullptr) event = std::make_unique<Event>();
  return {event.release(), [shelf = shelf_](Event* used) { shelf->put_back(std::unique_ptr<Event>(used)); }};
}

Stream Stream::make() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a CUDA stream");
  return {stream, true};
}

Stream::~Stream() {
  if (owned_ && stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
}

void Stream::wait_for(cudaEvent_t event) {
  check(cudaStreamWaitEvent(stream_, event, 0), "ordering a CUDA stream after an event");
}

void Stream::delay(base::Nanoseconds duration) {
  // The time is the argument itself: a recorded delay happens more than once.
  check(cudaLaunchHostFunc(
            stream_,
            [](void* nanoseconds) {
              std::this_thread::sleep_for(base::Nanoseconds(reinterpret_cast<std::intptr_t>(nanoseconds)));
            },
            reinterpret_cast<void*>(static_cast<std::intptr_t>(duration.count()))),
        "putting a delay on a CUDA stream");
}

}  // namespace lockstep::device::cuda
