// A convolution whose bias and ReLU are one kernel.
#pragma once

#include <memory>

#include "lockstep/models/layers/layers.h"
#include "lockstep/train/cuda/layers/row_maps.h"

namespace lockstep::train {

class BiasedConv2d final : public models::Conv2d {
 public:
  BiasedConv2d(const models::LayerOptions& options, const models::Conv2dSpec& spec);
  at::Tensor forward(models::Runner& runner, const at::Tensor& input) override;

 private:
  std::shared_ptr<SumMemory> sums_;
};

}  // namespace lockstep::train
