#include "lockstep/models/layers/standard_layers.h"

#include "lockstep/models/layers/fused_attention.h"
#include "lockstep/models/layers/layers.h"

namespace lockstep::models {

using Layer = LayerFactory::Layer;

Layer StandardLayers::conv2d(const Conv2dSpec& spec) {
  return std::make_unique<Conv2d>(options(), spec);
}
Layer StandardLayers::linear(const LinearSpec& spec) {
  return std::make_unique<Linear>(options(), spec);
}
Layer StandardLayers::batch_norm2d(const BatchNorm2dSpec& spec) {
  return std::make_unique<BatchNorm2d>(options(), spec);
}
Layer StandardLayers::batch_norm2d_join(const BatchNorm2dSpec& spec) {
  return batch_norm2d(spec);
}
Layer StandardLayers::layer_norm(const LayerNormSpec& spec) {
  return std::make_unique<LayerNorm>(options(), spec);
}
Layer StandardLayers::head_attention(const HeadAttentionSpec& spec) {
  return std::make_unique<FusedHeadAttention>(options(), spec);
}
Layer StandardLayers::activation(Activation kind) {
  return std::make_unique<ActivationLayer>(kind);
}
Layer StandardLayers::max_pool2d(const Pool2dSpec& spec) {
  return std::make_unique<MaxPool2d>(spec);
}
Layer StandardLayers::avg_pool2d(const Pool2dSpec& spec) {
  return std::make_unique<AvgPool2d>(spec);
}
Layer StandardLayers::adaptive_avg_pool2d(std::int64_t out_side) {
  return std::make_unique<AdaptiveAvgPool2d>(out_side);
}
Layer StandardLayers::dropout(double probability) {
  return std::make_unique<Dropout>(probability);
}

std::unique_ptr<LayerFactory> standard_layers(const LayerOptions& options) {
  return std::make_unique<StandardLayers>(options);
}

}  // namespace lockstep::models
