#include "lockstep/parallel/compute_queue.h"

namespace lockstep::parallel {
namespace {

class HostComputeQueue : public ComputeQueue {
 public:
  void use_here() override {}
  void keep_backward_here() override {}
  comm::Work mark() override { return {}; }
  void wait_for(const comm::Work& work) override { work.wait(); }
  void synchronise() override {}
  std::unique_ptr<measure::StepTimer> step_timer(measure::SpanListener* listener) override {
    return measure::host_step_timer(listener);
  }
  std::unique_ptr<comm::Communicator> ordered(std::unique_ptr<comm::Communicator> communicator) override {
    return communicator;
  }
  std::unique_ptr<comm::Communicator> staged(std::unique_ptr<comm::Communicator> communicator) override {
    return communicator;
  }
  std::unique_ptr<comm::shared::Hands> hands() override { return nullptr; }
  std::unique_ptr<Repeat> record(const std::function<void()>&) override { return nullptr; }
  std::string gpu() const override { return ""; }
  std::function<std::optional<measure::DeviceReading>()> sensors() override { return {}; }
  void limit_memory(std::uint64_t) override {}
  bool count_memory(std::shared_ptr<measure::MemoryAccount>) override { return true; }
};

}  // namespace

std::unique_ptr<ComputeQueue> host_compute_queue() {
  return std::make_unique<HostComputeQueue>();
}

std::unique_ptr<ComputeQueue> compute_queue(const at::Device& device) {
  return device.is_cuda() ? cuda_compute_queue(device) : host_compute_queue();
}

}  // namespace lockstep::parallel
