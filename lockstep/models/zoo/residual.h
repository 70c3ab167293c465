// The basic residual block of ResNet-18 and the four stages that both variants are made of.
#pragma once

#include <memory>

#include "lockstep/models/layer_factory.h"
#include "lockstep/models/zoo/chain.h"

namespace lockstep::models {

class ResidualBlock : public Unit {
 public:
  ResidualBlock(LayerFactory& make, std::int64_t in, std::int64_t out, std::int64_t stride);
  at::Tensor forward(Runner& runner, const at::Tensor& input) override;

 private:
  Unit &conv1_, &bn1_, &conv2_, &bn2_;
  Unit* downsample_ = nullptr;
};

// Convolutions of ResNet have no bias and are initialised by fan-out.
Conv2dSpec residual_convolution(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride);

// Two blocks, "0" and "1"; the first one changes width and resolution.
std::unique_ptr<Chain> make_stage(LayerFactory& make, std::int64_t in, std::int64_t out, std::int64_t stride);

}  // namespace lockstep::models
