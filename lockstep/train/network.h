// From a spec to a model that is ready to train: options from the spec and the data, weights, what is frozen.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "lockstep/models/model.h"
#include "lockstep/models/options.h"
#include "lockstep/record/spec.h"

namespace lockstep::train {

// What arithmetic is done in, and where.
struct Placement {
  at::ScalarType type = at::kFloat;
  at::Device device = at::kCPU;
  bool channels_last = false;  // the memory order of maps
};
Placement placement_of(const record::RunSpec& spec, int local_rank);

// `classes`: of the data set; 0 where it has none.
models::ModelOptions model_options(const record::RunSpec& spec, int classes);
models::LayerOptions layer_options(const Placement& placement);

struct Network {
  models::Model model;
  models::LossKind loss;
  std::vector<std::string> remarks;  // for the user: what was loaded, left alone or frozen
};

// Builds, loads the spec's weights and freezes what is not trained. Throws ConfigError or DataError.
Network build_network(const record::RunSpec& spec, int classes, models::LayerFactory& layers);

}  // namespace lockstep::train
