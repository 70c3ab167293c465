// What a user may choose about a model, and what each model allows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lockstep/models/loss_kind.h"

namespace lockstep::models {

// Zero means: the model's own default. resolve() fills them in.
struct ModelOptions {
  std::int64_t classes = 0;
  std::int64_t channels = 0;
  std::int64_t image_height = 0;
  std::int64_t image_width = 0;
  std::int64_t width = 0;  // channels or features of a layer, where the model has the option
  std::int64_t depth = 0;  // layers or blocks
  std::int64_t heads = 0;  // of attention

  // Throws ConfigError that names a negative or absurd field; what a model allows is resolve()'s business.
  void validate() const;
};

// What a model's architecture allows. Zero: the option does not exist for this model.
struct ModelLimits {
  std::int64_t classes = 10;  // default; 0 where the output is not a choice of classes
  std::int64_t channels = 3;  // default
  bool channels_adapt = true;
  std::int64_t image_height = 32;  // default
  std::int64_t image_width = 32;
  std::int64_t smallest_image = 1;    // the side below which it cannot run
  std::int64_t smallest_default = 1;  // the side that smaller data is resized to by default
  std::int64_t side_multiple = 1;     // both sides must be multiples of it
  std::int64_t width = 0;             // defaults of the options below; 0: no such option
  std::int64_t depth = 0;
  std::int64_t heads = 0;
};

// The options with every zero replaced by the default. Throws ConfigError, naming the model, the field, its
// value and the nearest good one, when the architecture does not allow them.
ModelOptions resolve(std::string_view model, const ModelLimits& limits, const ModelOptions& asked);

}  // namespace lockstep::models
