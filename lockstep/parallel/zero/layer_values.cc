#include "lockstep/parallel/zero/layer_values.h"

#include <ATen/ATen.h>

#include "lockstep/comm/operation.h"
#include "lockstep/parallel/bucket_layout.h"
#include "lockstep/parallel/tensor_buffer.h"
#include "lockstep/parallel/zero/flat.h"

namespace lockstep::parallel {

LayerValues::LayerValues(const std::vector<Layer>& layers, const Surroundings& surroundings)
    : layers_(layers), surroundings_(surroundings), communicator_(*surroundings.communicator) {
  for (std::size_t layer = 0; layer < layers_.size(); ++layer)
    layers_of_[layers_[layer].unit].push_back(layer);
}

Shard LayerValues::shard(std::size_t layer) const {
  const comm::Group& group = communicator_.group();
  return shard_of(entries_[layer].parameters.elements(), group.world, group.rank);
}

comm::Buffer LayerValues::own_buffer(std::size_t layer) const {
  const comm::ElementType type = element_type(entries_[layer].parameters.row().scalar_type());
  return shards_.buffer(type).part(offsets_[layer], shard(layer).count * comm::bytes_of(type));
}

at::Tensor LayerValues::own_values(std::size_t layer) const {
  return row_at(own_buffer(layer), entries_[layer].parameters.row());
}

// In memory of the communicator, where the other ranks may read them in place. Its size is the same on all
// ranks, though the shards of the last ones may be an element shorter. Every shard begins aligned.
void LayerValues::allocate_shards() {
  std::size_t bytes = 0;
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    const at::Tensor& row = entries_[layer].parameters.row();
    offsets_.push_back(aligned_for_a_bucket(bytes));
    bytes = offsets_.back() +
            shard_of(entries_[layer].parameters.elements(), communicator_.group().world, 0).count *
                row.element_size();
  }
  reserved_ = measure::Reservation(surroundings_.memory, measure::Use::parameters, bytes);
  shards_ = communicator_.allocate(bytes);
}

void LayerValues::divide() {
  if (entries_.empty()) {
    for (const Layer& layer : layers_) entries_.push_back({FlatParameters(layer.parameters), 0, {}});
    allocate_shards();
  }
  const at::NoGradGuard no_grad;
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    const Shard own = shard(layer);
    own_values(layer).copy_(entries_[layer].parameters.row().narrow(0, static_cast<std::int64_t>(own.begin),
                                                                    static_cast<std::int64_t>(own.count)));
  }
  drop_all();
}

void LayerValues::gather_all() {
  if (kept_whole_) return;
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    if (!entries_[layer].parameters.has_room()) start(layer);
    await(layer);
  }
  kept_whole_ = true;
}

void LayerValues::drop_all() {
  surroundings_.compute.synchronise();
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    await(layer);
    entries_[layer].parameters.drop();
  }
  kept_whole_ = false;
}

// What was fetched ahead in vain has the values of the step before.
void LayerValues::drop_unused() {
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    if (!entries_[layer].parameters.has_room()) continue;
    await(layer);
    entries_[layer].parameters.drop();
  }
}

void LayerValues::begin_pass(bool in_background) {
  if (kept_whole_) drop_all();
  drop_unused();
  in_background_ = in_background;
  order_.begin_pass();
}

comm::Operation LayerValues::gathering_of(std::size_t layer) const {
  const FlatParameters& parameters = entries_[layer].parameters;
  return comm::all_gather(own_buffer(layer), parameters.buffer(), comm::Purpose::parameter,
                          shard_counts(parameters.elements(), communicator_.group().world));
}

void LayerValues::start(std::size_t layer) {
  Entry& entry = entries_[layer];
  entry.parameters.make_room();
  if (in_background_) {
    entry.arriving = communicator_.start(gathering_of(layer));
    return;
  }
  const measure::SpanScope span(surroundings_.timer, measure::Span::exposed_comm,
                                measure::Purpose::parameter);
  communicator_.run(gathering_of(layer));
}

void LayerValues::await(std::size_t layer) {
  comm::Work& arriving = entries_[layer].arriving;
  if (arriving.pending() == nullptr) return;
  const measure::SpanScope span(surroundings_.timer, measure::Span::exposed_comm,
                                measure::Purpose::parameter);
  surroundings_.compute.wait_for(arriving);
  arriving = {};
}

void LayerValues::acquire(models::Unit& unit) {
  if (kept_whole_) return;
  for (const std::size_t layer : layers_of_.at(&unit)) {
    const std::optional<std::size_t> next = order_.visit(layer);
    if (!entries_[layer].parameters.has_room()) start(layer);
    if (in_background_ && next && !entries_[*next].parameters.has_room()) start(*next);
    ++entries_[layer].users;
    await(layer);
  }
}

void LayerValues::release(models::Unit& unit) {
  if (kept_whole_) return;
  for (const std::size_t layer : layers_of_.at(&unit)) {
    if (--entries_[layer].users == 0) entries_[layer].parameters.drop();
  }
}

}  // namespace lockstep::parallel
