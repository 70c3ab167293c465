// Helpers of the models' tests: small models built in one call.
#pragma once

#include <ATen/ATen.h>

#include <string_view>

#include "lockstep/models/layers/standard_layers.h"
#include "lockstep/models/model.h"
#include "lockstep/models/runner.h"

namespace lockstep::models {

inline Model make_model(std::string_view name, const ModelOptions& options = {},
                        at::ScalarType dtype = at::kFloat, std::uint64_t seed = 1) {
  StandardLayers layers({.dtype = dtype});
  return build_model(name, options, layers, seed);
}

// A batch of the model's own shape with reproducible values between -1 and 1.
inline at::Tensor make_batch(const Model& model, std::int64_t batch, at::ScalarType dtype = at::kFloat) {
  const ModelOptions& options = model.options();
  at::Tensor values = at::empty({batch, options.channels, options.image_height, options.image_width},
                                at::TensorOptions().dtype(dtype));
  fill(values, Init::uniform(1.0), 99, "batch");
  return values;
}

// Options that make a model cheap enough for a unit test.
inline ModelOptions small_options(std::string_view name) {
  ModelOptions options;
  const auto side = [&](std::int64_t pixels) { options.image_height = options.image_width = pixels; };
  if (name == "vgg16" || name == "densenet121" || name == "resnet18" || name == "squeezenet1_0") side(32);
  if (name == "alexnet") side(64);
  if (name == "restorer") side(16);
  if (name == "resnet18-cifar" || name == "deepwide" || name == "restorer") options.width = 8;
  return options;
}

}  // namespace lockstep::models
