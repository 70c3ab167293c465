// Where layers come from. A model file asks the factory it is handed for every layer, so another
// implementation of one (synchronised, fused, on another device) is a factory that overrides one function,
// and no model file changes.
//
// What belongs together is asked for together (a convolution *and* the ReLU after it, a batch norm that joins
// a shortcut), because that is what a fused kernel can replace.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "lockstep/models/init.h"
#include "lockstep/models/unit.h"

namespace lockstep::models {

enum class Activation { none, relu, gelu };

struct Conv2dSpec {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  bool bias = true;
  Activation then = Activation::none;
  WeightInit weight_init = WeightInit::torch_default;
  BiasInit bias_init = BiasInit::torch_default;
};

struct LinearSpec {
  std::int64_t in = 0;
  std::int64_t out = 0;
  Activation then = Activation::none;
  WeightInit weight_init = WeightInit::torch_default;
  BiasInit bias_init = BiasInit::torch_default;
};

struct BatchNorm2dSpec {
  std::int64_t channels = 0;
  Activation then = Activation::none;
  double epsilon = 1e-5;
  double momentum = 0.1;
};

struct LayerNormSpec {
  std::int64_t width = 0;
  double epsilon = 1e-5;
};

struct Pool2dSpec {
  std::int64_t kernel = 2;
  std::int64_t stride = 2;
  std::int64_t padding = 0;
  bool ceil_mode = false;
};

// Self-attention in which each head maps its own slice of the width by q, k and v maps of its own, without an
// output projection. Parameters: q.H.weight, q.H.bias, k.H..., v.H... for each head H.
struct HeadAttentionSpec {
  std::int64_t width = 0;
  std::int64_t heads = 0;
};

// In which type and where parameters are made.
struct LayerOptions {
  at::ScalarType dtype = at::kFloat;
  at::Device device = at::kCPU;
  // Weights of convolutions in channels-last order: the maps follow them. Buckets that gradients are written
  // into must have the parameters' strides.
  bool channels_last = false;
};

class LayerFactory {
 public:
  explicit LayerFactory(const LayerOptions& options) : options_(options) {}
  virtual ~LayerFactory() = default;
  const LayerOptions& options() const { return options_; }

  using Layer = std::unique_ptr<Unit>;
  virtual Layer conv2d(const Conv2dSpec& spec) = 0;
  virtual Layer linear(const LinearSpec& spec) = 0;
  virtual Layer batch_norm2d(const BatchNorm2dSpec& spec) = 0;
  // Normalises, adds the shortcut, applies `then`: run with runner.run(unit, x, shortcut).
  virtual Layer batch_norm2d_join(const BatchNorm2dSpec& spec) = 0;
  virtual Layer layer_norm(const LayerNormSpec& spec) = 0;
  virtual Layer head_attention(const HeadAttentionSpec& spec) = 0;
  virtual Layer activation(Activation kind) = 0;
  virtual Layer max_pool2d(const Pool2dSpec& spec) = 0;
  virtual Layer avg_pool2d(const Pool2dSpec& spec) = 0;
  virtual Layer adaptive_avg_pool2d(std::int64_t out_side) = 0;
  // The mask is keyed by (seed, step, the unit's path, global sample index).
  virtual Layer dropout(double probability) = 0;

 private:
  LayerOptions options_;
};

// The factory that every model runs with unless told otherwise.
std::unique_ptr<LayerFactory> standard_layers(const LayerOptions& options);

}  // namespace lockstep::models
