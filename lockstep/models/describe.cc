#include "lockstep/models/describe.h"

#include <ATen/ATen.h>

#include <nlohmann/json.hpp>

#include "lockstep/models/registry.h"
#include "lockstep/models/runner.h"

namespace lockstep::models {
namespace {

std::int64_t elements_of(const std::vector<NamedTensor>& tensors) {
  std::int64_t count = 0;
  for (const NamedTensor& named : tensors) count += named.tensor.numel();
  return count;
}

nlohmann::json options_json(const ModelOptions& options) {
  nlohmann::json chosen = nlohmann::json::object();
  if (options.classes != 0) chosen["classes"] = options.classes;
  if (options.width != 0) chosen["width"] = options.width;
  if (options.depth != 0) chosen["depth"] = options.depth;
  if (options.heads != 0) chosen["heads"] = options.heads;
  return chosen;
}

}  // namespace

CostAccount trace_batch(const Model& sketch, std::int64_t batch) {
  const ModelOptions& options = sketch.options();
  const at::ScalarType dtype = sketch.parameters().front().tensor.scalar_type();
  const at::Tensor input = at::empty({batch, options.channels, options.image_height, options.image_width},
                                     at::TensorOptions().dtype(dtype).device(at::kMeta));
  Runner runner;
  CostAccount costs;
  runner.trace(sketch.root(), input, costs);
  return costs;
}

// Two batch sizes tell apart what grows with the batch and what does not.
ModelCosts costs_per_sample(const Model& sketch) {
  const CostAccount one = trace_batch(sketch, 1);
  const CostAccount two = trace_batch(sketch, 2);
  ModelCosts costs;
  costs.flops_per_sample = one.forward_flops();
  costs.training_flops_per_sample = one.forward_flops() + one.backward_flops();
  costs.activation_bytes_per_sample = two.activation_bytes() - one.activation_bytes();
  costs.activation_bytes_per_batch = one.activation_bytes() - costs.activation_bytes_per_sample;
  return costs;
}

ModelDescription describe_model(std::string_view name, const ModelOptions& options, at::ScalarType dtype) {
  const ModelEntry& entry = model_entry(name);
  const Model sketch = sketch_model(name, options, {.dtype = dtype});
  return {.name = std::string(entry.name),
          .description = std::string(entry.description),
          .loss = entry.loss,
          .options = sketch.options(),
          .limits = entry.limits,
          .parameters = sketch.parameter_count(),
          .buffers = elements_of(sketch.buffers()),
          .costs = costs_per_sample(sketch)};
}

nlohmann::json to_json(const ModelDescription& model) {
  const ModelOptions& options = model.options;
  return {{"name", model.name},
          {"description", model.description},
          {"loss", name_of(model.loss)},
          {"parameters", model.parameters},
          {"buffers", model.buffers},
          {"flops_per_sample", model.costs.flops_per_sample},
          {"training_flops_per_sample", model.costs.training_flops_per_sample},
          {"activation_bytes_per_sample", model.costs.activation_bytes_per_sample},
          {"activation_bytes_per_batch", model.costs.activation_bytes_per_batch},
          {"image", {options.channels, options.image_height, options.image_width}},
          {"smallest_image", model.limits.smallest_image},
          {"smallest_default_image", model.limits.smallest_default},
          {"channels_adapt", model.limits.channels_adapt},
          {"options", options_json(options)}};
}

}  // namespace lockstep::models
