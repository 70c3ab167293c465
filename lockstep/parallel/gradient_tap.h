// Tells when autograd has a parameter's gradient, one parameter at a time, in the order in which gradients
// become ready. Where a thread keeps its backward (ComputeQueue::keep_backward_here), as on the CPU every
// thread does, that thread tells of all: strategies that send from here need it so. Else on a GPU autograd's
// device thread tells of the gradients it made, and the thread that called backward of those that a layer
// wrote to its slot itself (for autograd they are undefined, and nothing of a device's): the two are not let
// in together.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace lockstep::parallel {

class ComputeQueue;

class GradientTap {
 public:
  // `on_ready` gets the parameter's index after its .grad was written, on a thread that computes on
  // `compute` (null: wherever the thread does). The parameters must be leaves that require a gradient.
  GradientTap(ComputeQueue* compute, const std::vector<at::Tensor>& parameters,
              std::function<void(std::size_t)> on_ready);
  ~GradientTap();
  GradientTap(const GradientTap&) = delete;
  GradientTap& operator=(const GradientTap&) = delete;

  // What the hooks call; they may outlive the tap.
  struct Listener {
    std::mutex mutex;
    ComputeQueue* compute = nullptr;
    std::function<void(std::size_t)> on_ready;
    void call(std::size_t parameter);
  };

 private:
  // A parameter does not own its accumulator: without these the hooks would be gone with the first graph.
  // What libtorch holds one by differs between its versions.
  std::vector<std::shared_ptr<const void>> accumulators_;
  std::shared_ptr<Listener> listener_;
};

}  // namespace lockstep::parallel
