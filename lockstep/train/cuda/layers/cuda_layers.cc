#include "lockstep/train/cuda/layers/cuda_layers.h"

#include "lockstep/train/cuda/layers/biased_conv.h"
#include "lockstep/train/cuda/layers/joined_norm.h"
#include "lockstep/train/cuda/layers/keyed_dropout.h"
#include "lockstep/train/cuda/layers/row_maps.h"
#include "lockstep/train/gpu.h"

namespace lockstep::train {

using Layer = models::LayerFactory::Layer;

Layer CudaLayers::conv2d(const models::Conv2dSpec& spec) {
  const bool follows = spec.bias && spec.then != models::Activation::gelu;
  if (!follows || !has_row_kernels(options(), spec.out)) return StandardLayers::conv2d(spec);
  return std::make_unique<BiasedConv2d>(options(), spec);
}

Layer CudaLayers::batch_norm2d(const models::BatchNorm2dSpec& spec) {
  if (spec.then == models::Activation::gelu || !has_row_kernels(options(), spec.channels))
    return StandardLayers::batch_norm2d(spec);
  return std::make_unique<JoinedNorm2d>(options(), spec);
}

Layer CudaLayers::dropout(double probability) {
  return std::make_unique<KeyedDropout>(probability);
}

std::unique_ptr<models::LayerFactory> device_layers(const models::LayerOptions& options) {
  return std::make_unique<CudaLayers>(options);
}

}  // namespace lockstep::train
