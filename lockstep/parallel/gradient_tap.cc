#include "lockstep/parallel/gradient_tap.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

namespace lockstep::parallel {
namespace {

using OnReady = std::shared_ptr<std::function<void(std::size_t)>>;

class ReadyHook : public torch::autograd::FunctionPostHook {
 public:
  ReadyHook(OnReady on_ready, std::size_t parameter)
      : on_ready_(std::move(on_ready)), parameter_(parameter) {}
  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list&) override {
    if (*on_ready_) (*on_ready_)(parameter_);
    return outputs;
  }

 private:
  OnReady on_ready_;
  std::size_t parameter_;
};

}  // namespace

GradientTap::GradientTap(const std::vector<at::Tensor>& parameters, std::function<void(std::size_t)> on_ready)
    : on_ready_(std::make_shared<std::function<void(std::size_t)>>(std::move(on_ready))) {
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    accumulators_.push_back(torch::autograd::impl::grad_accumulator(parameters[index]));
    accumulators_.back()->add_post_hook(std::make_unique<ReadyHook>(on_ready_, index));
  }
}

// A graph that is still alive may keep an accumulator: its hook must not call what is gone.
GradientTap::~GradientTap() {
  *on_ready_ = nullptr;
}

}  // namespace lockstep::parallel
