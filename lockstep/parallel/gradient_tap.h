// Tells when autograd has a parameter's gradient. On the CPU it does so on the thread that runs backward, in
// the order in which gradients become ready.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <vector>

namespace torch::autograd {
struct Node;
}

namespace lockstep::parallel {

class GradientTap {
 public:
  // `on_ready` gets the parameter's index after its .grad was written. The parameters must be leaves that
  // require a gradient.
  GradientTap(const std::vector<at::Tensor>& parameters, std::function<void(std::size_t)> on_ready);
  ~GradientTap();
  GradientTap(const GradientTap&) = delete;
  GradientTap& operator=(const GradientTap&) = delete;

 private:
  // A parameter does not own its accumulator: without these the hooks would be gone with the first graph.
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators_;
  std::shared_ptr<std::function<void(std::size_t)>> on_ready_;
};

}  // namespace lockstep::parallel
