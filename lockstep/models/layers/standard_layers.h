// The standard factory; one of one's own derives from it and overrides what it replaces.
#pragma once

#include "lockstep/models/layer_factory.h"

namespace lockstep::models {

class StandardLayers : public LayerFactory {
 public:
  using LayerFactory::LayerFactory;

  Layer conv2d(const Conv2dSpec& spec) override;
  Layer linear(const LinearSpec& spec) override;
  Layer batch_norm2d(const BatchNorm2dSpec& spec) override;
  Layer batch_norm2d_join(const BatchNorm2dSpec& spec) override;
  Layer layer_norm(const LayerNormSpec& spec) override;
  Layer head_attention(const HeadAttentionSpec& spec) override;
  Layer activation(Activation kind) override;
  Layer max_pool2d(const Pool2dSpec& spec) override;
  Layer avg_pool2d(const Pool2dSpec& spec) override;
  Layer adaptive_avg_pool2d(std::int64_t out_side) override;
  Layer dropout(double probability) override;
};

}  // namespace lockstep::models
