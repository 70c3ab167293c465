// What layers with a backward of their own are made with: a node of autograd that holds what it needs as
// plain members, and gradients that are written straight to where they belong.
#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <memory>
#include <utility>

#include "lockstep/models/unit.h"

namespace lockstep::models {

// A parameter as the node of a pass knows it. The slot's view is looked up when the gradient is there.
struct DirectParameter {
  at::Tensor value;
  std::shared_ptr<GradientSlot> slot;

  static DirectParameter of(const Parameter& parameter) { return {parameter.value, parameter.slot}; }

  // Has the gradient written, by write(target, accumulate): into the slot, and then the result is undefined
  // (which tells autograd that there is nothing to accumulate), or into a new tensor.
  template <class Write>
  at::Tensor deliver(const Write& write) const {
    if (slot != nullptr && slot->in_use()) {
      write(slot->view, !slot->fresh);
      slot->written();
      return {};
    }
    at::Tensor gradient = at::empty_like(value, at::TensorOptions().requires_grad(false));
    write(gradient, false);
    return gradient;
  }
};

using torch::autograd::variable_list;

// Whether a pass must be remembered for backward.
template <class... Tensors>
bool needs_backward(const Tensors&... inputs) {
  return at::GradMode::is_enabled() && (inputs.requires_grad() || ...);
}

template <class Node>
std::shared_ptr<Node> make_node() {
  return std::shared_ptr<Node>(new Node(), torch::autograd::deleteNode);
}

// Puts the node behind the output, with an edge to each input in this order. The output must have been
// computed without autograd and must not be kept by the node itself, but as a detached alias.
template <class Node, class... Tensors>
at::Tensor with_history(const std::shared_ptr<Node>& node, at::Tensor output, const Tensors&... inputs) {
  node->set_next_edges(torch::autograd::collect_next_edges(inputs...));
  torch::autograd::set_history(output, node);
  return output;
}

}  // namespace lockstep::models
