#include "lockstep/parallel/zero/layer_gradients.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "lockstep/comm/operation.h"
#include "lockstep/parallel/tensor_buffer.h"
#include "lockstep/parallel/zero/flat_parameters.h"

namespace lockstep::parallel {
namespace {

at::Tensor make_gradient_row(const at::Tensor& like, std::size_t elements) {
  const measure::UseScope use(measure::Use::gradients);
  return at::empty({static_cast<std::int64_t>(elements)}, like.options().requires_grad(false));
}

}  // namespace

LayerGradients::LayerGradients(const std::vector<Layer>& layers, const Surroundings& surroundings)
    : layers_(layers),
      surroundings_(surroundings),
      communicator_(*surroundings.communicator),
      entries_(layers.size()),
      places_(places_of(layers)),
      tap_(&surroundings.compute, tapped(), [this](std::size_t index) { on_gradient(places_[index]); }) {
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    if (!layers_[layer].trained) continue;
    layers_of_[layers_[layer].unit].push_back(layer);
    entries_[layer].sum = make_gradient_row(layers_[layer].parameters.front().tensor, shard(layer).count);
  }
}

std::vector<LayerGradients::Place> LayerGradients::places_of(const std::vector<Layer>& layers) {
  std::vector<Place> places;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    for (std::size_t parameter = 0; layers[layer].trained && parameter < layers[layer].parameters.size();
         ++parameter)
      places.push_back({layer, parameter});
  }
  return places;
}

std::vector<at::Tensor> LayerGradients::tapped() const {
  std::vector<at::Tensor> tensors;
  for (const Place& place : places_)
    tensors.push_back(layers_[place.layer].parameters[place.parameter].tensor);
  return tensors;
}

Shard LayerGradients::shard(std::size_t layer) const {
  const comm::Group& group = communicator_.group();
  return shard_of(total_of(elements_of(layers_[layer].parameters)), group.world, group.rank);
}

void LayerGradients::begin_pass(bool first, bool in_background) {
  first_ = first;
  in_background_ = in_background;
  for (Entry& entry : entries_) entry.reduced = false;
}

void LayerGradients::before_backward(models::Unit& unit) {
  for (const std::size_t layer : layers_of_.at(&unit)) prepare(layer);
}

void LayerGradients::prepare(std::size_t layer) {
  Entry& entry = entries_[layer];
  if (entry.whole.defined()) return;
  const Layer& of = layers_[layer];
  entry.whole = make_gradient_row(of.parameters.front().tensor, total_of(elements_of(of.parameters)));
  entry.views = views_into(entry.whole, of.parameters);
  entry.written.assign(of.parameters.size(), false);
  entry.ready.assign(of.parameters.size(), false);
  entry.missing = of.parameters.size();
  for (std::size_t parameter = 0; parameter < of.slots.size(); ++parameter) {
    if (!of.slots[parameter]->direct()) continue;
    of.slots[parameter]->view = entry.views[parameter];
    of.slots[parameter]->fresh = true;
  }
}

void LayerGradients::on_gradient(const Place& place) {
  if (entries_[place.layer].reduced) return;
  prepare(place.layer);
  take_gradient(place);
  mark_ready(place);
}

// Autograd has made the gradient and left it in .grad; or the layer has written it to its place itself.
void LayerGradients::take_gradient(const Place& place) {
  Entry& entry = entries_[place.layer];
  at::Tensor parameter = layers_[place.layer].parameters[place.parameter].tensor;
  at::Tensor& made = parameter.mutable_grad();
  if (made.defined()) {
    const at::NoGradGuard no_grad;
    entry.views[place.parameter].copy_(made);
    entry.written[place.parameter] = true;
    made.reset();
    return;
  }
  const models::GradientSlot& slot = *layers_[place.layer].slots[place.parameter];
  entry.written[place.parameter] = slot.in_use() && !slot.fresh;
}

void LayerGradients::mark_ready(const Place& place) {
  Entry& entry = entries_[place.layer];
  if (entry.ready[place.parameter]) return;
  entry.ready[place.parameter] = true;
  if (--entry.missing == 0) reduce(place.layer);
}

// The whole gradient goes on its way; the one before it has arrived by then.
void LayerGradients::reduce(std::size_t layer) {
  Entry& entry = entries_[layer];
  const at::NoGradGuard no_grad;
  for (std::size_t parameter = 0; parameter < entry.views.size(); ++parameter) {
    if (!entry.written[parameter]) entry.views[parameter].zero_();
  }
  while (!flights_.empty()) land_first();
  Flight flight{layer, entry.whole, {}, {}};
  if (!first_) flight.more = make_gradient_row(entry.sum, shard(layer).count);
  const comm::Operation operation = comm::reduce_scatter(
      buffer_of(flight.whole), buffer_of(first_ ? entry.sum : flight.more), comm::ReduceOp::sum,
      comm::Purpose::gradient,
      shard_counts(static_cast<std::size_t>(flight.whole.numel()), communicator_.group().world));
  for (const auto& slot : layers_[layer].slots) slot->view.reset();
  entry.views.clear();
  entry.whole.reset();
  entry.reduced = true;
  if (in_background_) {
    flight.work = communicator_.start(operation);
    flights_.push_back(std::move(flight));
    return;
  }
  const measure::SpanScope span(surroundings_.timer, measure::Span::exposed_comm, measure::Purpose::gradient);
  communicator_.run(operation);
  flights_.push_back(std::move(flight));
  land_first();
}

void LayerGradients::land_first() {
  Flight flight = std::move(flights_.front());
  flights_.pop_front();
  if (flight.work.pending() != nullptr) {
    const measure::SpanScope span(surroundings_.timer, measure::Span::exposed_comm,
                                  measure::Purpose::gradient);
    surroundings_.compute.wait_for(flight.work);
  }
  const at::NoGradGuard no_grad;
  if (flight.more.defined()) entries_[flight.layer].sum.add_(flight.more);
}

void LayerGradients::end_pass() {
  const measure::SpanScope span(surroundings_.timer, measure::Span::backward);
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    if (!layers_[layer].trained || entries_[layer].reduced) continue;
    prepare(layer);
    reduce(layer);
  }
}

void LayerGradients::finish() {
  while (!flights_.empty()) land_first();
}

}  // namespace lockstep::parallel
