// What layers with a backward of their own are made with: a node of autograd that holds what it needs as
// plain members, and gradients that are written straight to where they belong.
#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <memory>
#include <span>
#include <type_traits>
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

// Autograd's inside, and all that this program knows of it but for gradient_tap.cc: layers derive from Node,
// and libtorch's versions differ here alone. (torch::autograd::Function is public, and costs a small layer
// more than its work.)
using torch::autograd::Node;
using torch::autograd::variable_list;

// What holds a node: a std::shared_ptr, in newer versions a c10::intrusive_ptr.
using NodePointer = decltype(torch::autograd::Edge::function);

template <class Kind>
auto make_node() {
  if constexpr (std::is_same_v<NodePointer, std::shared_ptr<Node>>) {
    return std::shared_ptr<Kind>(new Kind(),
                                 [](auto* node) { deleteNode(node); });  // libtorch's, found by type
  } else {
    return c10::make_intrusive<Kind>();
  }
}

// Whether a pass must be remembered for backward.
template <class... Tensors>
bool needs_backward(const Tensors&... inputs) {
  return at::GradMode::is_enabled() && (inputs.requires_grad() || ...);
}

inline void add_edge(torch::autograd::edge_list& edges, const at::Tensor& input) {
  const bool leads_on = input.defined() && input.requires_grad();
  edges.push_back(leads_on ? torch::autograd::impl::gradient_edge(input) : torch::autograd::Edge());
}
inline void add_edge(torch::autograd::edge_list& edges, std::span<const Parameter> parameters) {
  for (const Parameter& parameter : parameters) add_edge(edges, parameter.value);
}

// Puts the node behind the output, with an edge to each input (a tensor, or all of a row of parameters) in
// this order. The output must have been computed without autograd and must not be kept by the node itself,
// but as a detached alias.
template <class Held, class... Inputs>
at::Tensor with_history(const Held& node, at::Tensor output, const Inputs&... inputs) {
  torch::autograd::edge_list edges;
  (add_edge(edges, inputs), ...);
  node->set_next_edges(std::move(edges));
  torch::autograd::set_history(output, node);
  return output;
}

}  // namespace lockstep::models
