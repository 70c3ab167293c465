#include "lockstep/comm/cuda/stream_queue.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/base/units.h"
#include "lockstep/comm/cuda/pause.h"
#include "lockstep/device/cuda/cuda_error.h"

namespace lockstep::comm {
namespace {

// A point on the stream.
class Mark : public Pending {
 public:
  Mark(std::shared_ptr<device::cuda::Event> event, std::shared_ptr<const StreamQueueOptions> options)
      : event_(std::move(event)), options_(std::move(options)) {}

  bool done() const override { return event_->done(); }
  void* device_event() const override { return event_->get(); }

  void wait() override {
    const base::Deadline deadline(options_->timeout);
    Pause pause;
    while (!event_->done()) {
      options_->watch();
      if (deadline.passed()) throw_timed_out();
      pause();
    }
    options_->watch();
  }

 private:
  [[noreturn]] void throw_timed_out() const {
    throw base::CommError(base::CommError::Kind::timed_out,
                          fmt::format("what is on a CUDA stream did not end within {}",
                                      base::format_duration(options_->timeout)));
  }

  std::shared_ptr<device::cuda::Event> event_;
  std::shared_ptr<const StreamQueueOptions> options_;
};

}  // namespace

StreamQueue::StreamQueue(device::cuda::Stream stream, StreamQueueOptions options)
    : stream_(std::move(stream)), options_(std::make_shared<const StreamQueueOptions>(std::move(options))) {}

Work StreamQueue::mark() {
  std::shared_ptr<device::cuda::Event> event = events_.take();
  event->record(stream_.get());
  return Work(std::make_shared<Mark>(std::move(event), options_));
}

void StreamQueue::wait_for(const Work& work) {
  if (work.pending() == nullptr) return;
  void* event = work.pending()->device_event();
  if (event == nullptr)
    throw base::ConfigError("a CUDA stream cannot be ordered after work of a host queue: wait for it first");
  stream_.wait_for(static_cast<cudaEvent_t>(event));
  if (void* const recording = work.pending()->recording())
    recording_ = static_cast<device::cuda::Graph*>(recording);
}

device::cuda::Graph* StreamQueue::recording() {
  if (recording_ == nullptr) return nullptr;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  device::cuda::check(cudaStreamIsCapturing(stream_.get(), &status), "asking whether a stream is recorded");
  if (status != cudaStreamCaptureStatusActive) recording_ = nullptr;
  return recording_;
}

void StreamQueue::delay(base::Nanoseconds duration) {
  stream_.delay(duration);
}

void StreamQueue::drain() {
  mark().wait();
}

}  // namespace lockstep::comm
