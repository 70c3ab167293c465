#include "lockstep/parallel/gradient_tap.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include "lockstep/parallel/compute_queue.h"

namespace lockstep::parallel {
namespace {

// Accumulators and their hooks are autograd's inside. The public Tensor::register_hook is called before .grad
// is written, and not at all for a gradient that a layer wrote to its slot.
class ReadyHook : public torch::autograd::FunctionPostHook {
 public:
  ReadyHook(std::shared_ptr<GradientTap::Listener> listener, std::size_t parameter)
      : listener_(std::move(listener)), parameter_(parameter) {}
  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list&) override {
    listener_->call(parameter_);
    return outputs;
  }

 private:
  std::shared_ptr<GradientTap::Listener> listener_;
  std::size_t parameter_;
};

}  // namespace

void GradientTap::Listener::call(std::size_t parameter) {
  const std::lock_guard lock(mutex);
  if (!on_ready) return;
  if (compute != nullptr) compute->use_here();
  on_ready(parameter);
}

GradientTap::GradientTap(ComputeQueue* compute, const std::vector<at::Tensor>& parameters,
                         std::function<void(std::size_t)> on_ready)
    : listener_(std::make_shared<Listener>()) {
  listener_->compute = compute;
  listener_->on_ready = std::move(on_ready);
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    const auto accumulator = torch::autograd::impl::grad_accumulator(parameters[index]);
    accumulator->add_post_hook(std::make_unique<ReadyHook>(listener_, index));
    accumulators_.push_back(std::make_shared<decltype(accumulator)>(accumulator));
  }
}

// A graph that is still alive may keep an accumulator: its hook must not call what is gone.
GradientTap::~GradientTap() {
  const std::lock_guard lock(listener_->mutex);
  listener_->on_ready = nullptr;
}

}  // namespace lockstep::parallel
