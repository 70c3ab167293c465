// The stream that a CUDA worker computes on.
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/comm/cuda/device_hands.h"
#include "lockstep/comm/cuda/staged_communicator.h"
#include "lockstep/device/cuda/cuda_device.h"
#include "lockstep/device/cuda/cuda_error.h"
#include "lockstep/device/cuda/cuda_graph.h"
#include "lockstep/device/cuda/cuda_step_timer.h"
#include "lockstep/device/cuda/cuda_stream.h"
#include "lockstep/device/cuda/gpu_sensors.h"
#include "lockstep/parallel/compute_queue.h"
#include "lockstep/parallel/cuda/device_memory.h"
#include "lockstep/parallel/cuda/torch_stream.h"
#include "lockstep/parallel/ordered_communicator.h"

namespace lockstep::parallel {
namespace {

using device::cuda::Event;
using device::cuda::EventPool;

// A point on torch's stream.
class Mark : public comm::Pending {
 public:
  Mark(std::shared_ptr<Event> event, device::cuda::Graph* recording)
      : event_(std::move(event)), recording_(recording) {}
  bool done() const override { return event_->done(); }
  void wait() override { device::cuda::check(cudaEventSynchronize(event_->get()), "waiting for the GPU"); }
  void* device_event() const override { return event_->get(); }
  void* recording() const override { return recording_; }

 private:
  std::shared_ptr<Event> event_;
  device::cuda::Graph* recording_;
};

// Memory that the work takes stays reserved for it: every run uses the same.
class GraphRepeat : public Repeat {
 public:
  GraphRepeat(int device, cudaStream_t stream, const std::function<void()>& work)
      : stream_(stream), memory_(device), graph_(stream) {
    work();
    graph_.end();
    memory_.end();
  }
  void run() override { graph_.run(stream_); }

 private:
  cudaStream_t stream_;
  PrivateMemory memory_;
  device::cuda::Graph graph_;
};

class CudaComputeQueue : public ComputeQueue {
 public:
  explicit CudaComputeQueue(int device) : device_(device), stream_(own_torch_stream(device)) {}

  void use_here() override {
    use_torch_device(device_);
    use_torch_stream(stream_, device_);
  }

  void keep_backward_here() override { keep_torch_backward_here(); }

  comm::Work mark() override {
    std::shared_ptr<Event> event = events_.take();
    event->record(stream_);
    return comm::Work(std::make_shared<Mark>(std::move(event), device::cuda::Graph::recording()));
  }

  // Work of the host (a staged backend's) has no event: then the caller waits.
  void wait_for(const comm::Work& work) override {
    if (work.pending() == nullptr) return;
    void* event = work.pending()->device_event();
    if (event == nullptr) return work.wait();
    device::cuda::Stream::borrow(stream_).wait_for(static_cast<cudaEvent_t>(event));
  }

  void synchronise() override { device::cuda::check(cudaStreamSynchronize(stream_), "waiting for the GPU"); }

  std::unique_ptr<measure::StepTimer> step_timer(measure::SpanListener*) override {
    return device::cuda::cuda_step_timer(device_, stream_);
  }

  std::unique_ptr<comm::Communicator> ordered(std::unique_ptr<comm::Communicator> communicator) override {
    return std::make_unique<OrderedCommunicator>(std::move(communicator), *this);
  }

  std::unique_ptr<comm::Communicator> staged(std::unique_ptr<comm::Communicator> communicator) override {
    return std::make_unique<comm::StagedCommunicator>(std::move(communicator), device_);
  }

  std::unique_ptr<comm::shared::Hands> hands() override {
    return std::make_unique<comm::DeviceHands>(device_);
  }

  // Errors of torch in the recording are its own exceptions.
  std::unique_ptr<Repeat> record(const std::function<void()>& work) override {
    try {
      return std::make_unique<GraphRepeat>(device_, stream_, work);
    } catch (const base::Error&) {
      throw;
    } catch (const std::exception& error) {
      throw base::DeviceError(error.what());
    }
  }

  std::string gpu() const override { return device::cuda::facts_of(device_).name; }

  std::function<std::optional<measure::DeviceReading>()> sensors() override {
    std::shared_ptr<device::cuda::GpuSensors> sensors =
        device::cuda::gpu_sensors(device::cuda::facts_of(device_).uuid);
    if (sensors == nullptr) return {};
    return [sensors] { return sensors->read(); };
  }

  void limit_memory(std::uint64_t bytes) override {
    const device::cuda::DeviceScope scope(device_);
    std::size_t free = 0, total = 0;
    device::cuda::check(cudaMemGetInfo(&free, &total), "asking how much memory the GPU has");
    limit_torch_memory(device_, std::min(1.0, static_cast<double>(bytes) / static_cast<double>(total)));
  }

  bool count_memory(std::shared_ptr<measure::MemoryAccount> account) override {
    return count_torch_memory(std::move(account));
  }

 private:
  int device_;
  cudaStream_t stream_;
  EventPool events_;
};

}  // namespace

std::unique_ptr<ComputeQueue> cuda_compute_queue(const at::Device& device) {
  return std::make_unique<CudaComputeQueue>(device.index());
}

}  // namespace lockstep::parallel
