#include "lockstep/parallel/dp/replica_gradients.h"

#include <ATen/ATen.h>

#include "lockstep/comm/operation.h"
#include "lockstep/measure/torch/counting_allocator.h"
#include "lockstep/parallel/pass.h"
#include "lockstep/parallel/tensor_buffer.h"

namespace lockstep::parallel {
namespace {

// Reductions work on memory as it lies: a gradient must lie as the parameter does on every replica.
at::Tensor as_parameter_lies(const at::Tensor& gradient, const at::Tensor& parameter) {
  if (gradient.strides() == parameter.strides()) return gradient;
  return at::empty_like(parameter.detach()).copy_(gradient);
}

}  // namespace

ReplicaGradients::ReplicaGradients(const models::Model& model, ComputeQueue& compute,
                                   std::optional<std::uint64_t> piece_bytes)
    : parameters_(trained_parameters(model)),
      root_(model.root()),
      slots_(trained_slots(model)),
      places_(parameters_.size()),
      written_(parameters_.size()),
      tap_(&compute, tensors_of(parameters_), [this](std::size_t parameter) { on_gradient(parameter); }) {
  give_places(piece_bytes);
}

ReplicaGradients::~ReplicaGradients() {
  models::remove_gradient_slots(root_);
}

void ReplicaGradients::give_places(std::optional<std::uint64_t> piece_bytes) {
  const measure::UseScope use(measure::Use::gradients);
  const std::vector<at::Tensor> tensors = tensors_of(parameters_);
  if (piece_bytes) pieces_.emplace(tensors, lay_out_pieces(tensors, *piece_bytes));
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    if (pieces_) {
      places_[index] = pieces_->view(index);
    } else if (slots_[index]->direct()) {
      places_[index] = at::empty_like(tensors[index].detach());
    }
    if (slots_[index]->direct()) slots_[index]->view = places_[index];
  }
}

void ReplicaGradients::forget() {
  for (std::size_t index = 0; index < parameters_.size(); ++index) {
    slots_[index]->fresh = true;
    written_[index] = false;
    parameters_[index].tensor.mutable_grad().reset();
    if (!pieces_ && !slots_[index]->in_use()) places_[index].reset();
  }
}

// Autograd makes gradients among activations; they stay when those are gone.
void ReplicaGradients::on_gradient(std::size_t parameter) {
  if (slots_[parameter]->in_use()) return;
  if (pieces_) return put_into_piece(parameter);
  measure::count_as(parameters_[parameter].tensor.grad(), measure::Use::gradients);
}

void ReplicaGradients::put_into_piece(std::size_t parameter) {
  const at::NoGradGuard no_grad;
  at::Tensor& made = parameters_[parameter].tensor.mutable_grad();
  if (!made.defined()) return;
  if (written_[parameter]) {
    places_[parameter].add_(made);
  } else {
    places_[parameter].copy_(made);
  }
  written_[parameter] = true;
  made.reset();
}

void ReplicaGradients::complete() {
  const at::NoGradGuard no_grad;
  const measure::UseScope use(measure::Use::gradients);
  for (std::size_t parameter = 0; parameter < parameters_.size(); ++parameter) complete_one(parameter);
}

void ReplicaGradients::complete_one(std::size_t parameter) {
  if (slots_[parameter]->in_use()) {
    if (slots_[parameter]->fresh) places_[parameter].zero_();
    return;
  }
  if (pieces_) {
    if (!written_[parameter]) places_[parameter].zero_();
    return;
  }
  const at::Tensor& value = parameters_[parameter].tensor;
  places_[parameter] =
      value.grad().defined() ? as_parameter_lies(value.grad(), value) : at::zeros_like(value.detach());
}

void ReplicaGradients::reduce(comm::Communicator& communicator, measure::StepTimer& timer) {
  if (communicator.group().world == 1) return;
  const measure::SpanScope span(timer, measure::Span::exposed_comm, measure::Purpose::gradient);
  for (std::size_t index = 0; index < operations(); ++index) {
    const comm::Buffer own = buffer_of(pieces_ ? pieces_->flat(index) : places_[index]);
    const comm::Buffer sum = communicator.group().rank == 0 ? own : comm::Buffer{};
    communicator.run(comm::reduce(own, sum, comm::ReduceOp::sum, 0, comm::Purpose::gradient));
  }
}

}  // namespace lockstep::parallel
