// The standard layers with kernels of ours where they pay on a GPU: batch norm with its shortcut and ReLU,
// and the bias and ReLU after a convolution, in one pass over memory (bf16 in channels-last order); dropout
// whose mask is made where it is used.
#pragma once

#include "lockstep/models/layers/standard_layers.h"

namespace lockstep::train {

class CudaLayers : public models::StandardLayers {
 public:
  using StandardLayers::StandardLayers;

  Layer conv2d(const models::Conv2dSpec& spec) override;
  Layer batch_norm2d(const models::BatchNorm2dSpec& spec) override;
  Layer dropout(double probability) override;
};

}  // namespace lockstep::train
