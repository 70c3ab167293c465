// Which part of a model is trained. The rest is frozen: no gradient, no communication, no optimiser state,
// and its batch norms use their stored statistics and leave them as they are.
//
// A *layer* here is a unit with parameters of its own (a convolution, a batch norm, a linear layer), in the
// order of the model's state; a layer is frozen or trained as a whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/models/model.h"

namespace lockstep::models {

struct TrainableShare {
  enum class Kind { all, head, last, share };
  Kind kind = Kind::all;
  std::int64_t layers = 0;  // last:K
  double percent = 100.0;   // share:P%
};

// "all", "head", "last:K", "share:P%". Throws UsageError that names the text.
TrainableShare parse_trainable(std::string_view text);

struct TrainableReport {
  std::int64_t trainable_parameters = 0;
  std::int64_t frozen_parameters = 0;
  std::vector<std::string> trainable_layers;
  std::vector<std::string> frozen_layers;
};

// share:P% trains the fewest last layers that together hold at least P percent of the parameters. Throws
// ConfigError, naming the model, when it has no head or fewer than K layers.
TrainableReport set_trainable(const Model& model, const TrainableShare& share);

}  // namespace lockstep::models
