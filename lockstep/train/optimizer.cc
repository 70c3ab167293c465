#include "lockstep/train/optimizer.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/train/optimizers/adam.h"
#include "lockstep/train/optimizers/sgd.h"

namespace lockstep::train {

std::unique_ptr<Optimizer> make_optimizer(const record::RunSpec& spec) {
  if (spec.optimizer == "sgd") {
    return std::make_unique<Sgd>(SgdOptions{spec.momentum, spec.weight_decay, spec.nesterov});
  }
  if (spec.optimizer == "adam" || spec.optimizer == "adamw") {
    return std::make_unique<Adam>(
        AdamOptions{spec.beta1, spec.beta2, spec.epsilon, spec.weight_decay, spec.optimizer == "adamw"});
  }
  throw base::ConfigError(
      fmt::format("optimizer '{}' is unknown; there are sgd, adam and adamw", spec.optimizer));
}

}  // namespace lockstep::train
