#include "lockstep/parallel/zero/zero3.h"

#include <ATen/ATen.h>

#include "lockstep/base/error.h"
#include "lockstep/parallel/pass.h"
#include "lockstep/parallel/same_start.h"
#include "lockstep/parallel/zero/flat.h"

namespace lockstep::parallel {
namespace {

// The root of a model that can be divided.
models::Unit& divisible(const models::Model& model) {
  if (!model.root().opaque()) return model.root();
  throw base::ConfigError(
      fmt::format("strategy zero3 gathers a model layer by layer, and the inside of {} cannot be seen. Use "
                  "strategy zero1 or ddp.",
                  model.name()));
}

}  // namespace

Zero3::Zero3(const Surroundings& surroundings)
    : surroundings_(surroundings),
      communicator_(*surroundings.communicator),
      layers_(choose_layers(divisible(surroundings.model))),
      values_(layers_, surroundings),
      gradients_(layers_, surroundings),
      buffers_(surroundings.model, buffer_mode(surroundings.spec.buffers), communicator_, surroundings.timer,
               surroundings.memory),
      overlap_(surroundings.spec.overlap, communicator_, surroundings.warn) {
  trained_parameters(surroundings.model);  // refuses what cannot be trained
  models::Runner::attach(surroundings.model.root(), values_);
  models::Runner::attach(surroundings.model.root(), gradients_);
}

Zero3::~Zero3() {
  models::Runner::detach_all(surroundings_.model.root());
  models::remove_gradient_slots(surroundings_.model.root());
}

void Zero3::begin() {
  require_same_shapes(communicator_, surroundings_.model);
  broadcast_state(communicator_, surroundings_.model);
  values_.divide();
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    if (layers_[layer].trained)
      append_updatables(layers_[layer].parameters, values_.shard(layer), values_.own_values(layer),
                        gradients_.own_sum(layer), updatables_);
  }
}

// A worker without samples takes part like the others, with a batch of none: they wait for its shards.
PartResult Zero3::train_part(const StepPart& part) {
  if (part.first) {
    step_began_ = base::now();
    buffers_.exchange();
  }
  values_.begin_pass(overlap_.now());
  gradients_.begin_pass(part.first, overlap_.now());
  PartResult result = run_pass(surroundings_, runner_, part);
  gradients_.end_pass();
  if (part.inputs.size(0) == 0) result.output.reset();
  return result;
}

void Zero3::finish_gradients() {
  gradients_.finish();
  overlap_.end_step(base::now() - step_began_);
}

double Zero3::sum_over_updatables(double mine) {
  return sum_over_ranks(communicator_, surroundings_.timer, mine);
}

void Zero3::settle() {
  buffers_.exchange();
  values_.gather_all();
}

// The model was settled and given other values.
void Zero3::restore(const nlohmann::json&) {
  values_.divide();
}

}  // namespace lockstep::parallel
