// A CUDA stream as a queue: our own, or somebody else's (torch's), so that communication and computation are
// ordered by events on the device and no thread waits for either.
#pragma once

#include <functional>
#include <memory>

#include "lockstep/comm/queue.h"
#include "lockstep/device/cuda/cuda_graph.h"
#include "lockstep/device/cuda/cuda_stream.h"

namespace lockstep::comm {

struct StreamQueueOptions {
  base::Nanoseconds timeout = std::chrono::seconds(300);  // of a wait for what is on the stream
  // Called again and again while somebody waits, and once after; throws when waiting has become pointless.
  std::function<void()> watch = [] {};
};

class StreamQueue : public Queue {
 public:
  StreamQueue(device::cuda::Stream stream, StreamQueueOptions options);

  cudaStream_t stream() const { return stream_.get(); }
  device::cuda::EventPool& events() { return events_; }
  // What the stream is being recorded into, since it was ordered after an event of that recording; or null.
  device::cuda::Graph* recording();

  // The work may outlive the queue, but not what `watch` uses.
  Work mark() override;
  // `work` must be of a device queue: throws ConfigError for work of the host.
  void wait_for(const Work& work) override;
  void delay(base::Nanoseconds duration) override;
  void drain() override;

 private:
  device::cuda::Stream stream_;
  device::cuda::EventPool events_;
  std::shared_ptr<const StreamQueueOptions> options_;
  device::cuda::Graph* recording_ = nullptr;  // the last one; it may be over
};

}  // namespace lockstep::comm
