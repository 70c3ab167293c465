// What is known about a model before it runs: counted and computed over shapes, nothing of it written down by
// hand.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/models/cost.h"
#include "lockstep/models/model.h"

namespace lockstep::models {

// Costs of one sample. Activations are what forward keeps for backward, beside the batch itself.
struct ModelCosts {
  std::int64_t flops_per_sample = 0;           // forward; a multiply-add is two
  std::int64_t training_flops_per_sample = 0;  // forward and backward
  std::int64_t activation_bytes_per_sample = 0;
  std::int64_t activation_bytes_per_batch = 0;  // what does not grow with the batch (batch-norm statistics)
};

struct ModelDescription {
  std::string name;
  std::string description;
  LossKind loss = LossKind::cross_entropy;
  ModelOptions options;
  ModelLimits limits;
  std::int64_t parameters = 0;
  std::int64_t buffers = 0;  // elements
  ModelCosts costs;
};

// Of a registered model; at torchvision's 1000 classes and 224 pixels, or the model's own, where the options
// are zero.
ModelDescription describe_model(std::string_view name, const ModelOptions& options = {},
                                at::ScalarType dtype = at::kFloat);

// The costs of a batch, unit by unit, in the order of their forward; layers of containers are listed by
// themselves. The model must be a sketch (sketch_model).
CostAccount trace_batch(const Model& sketch, std::int64_t batch);
ModelCosts costs_per_sample(const Model& sketch);

nlohmann::json to_json(const ModelDescription& description);

}  // namespace lockstep::models
