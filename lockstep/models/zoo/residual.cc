#include "lockstep/models/zoo/residual.h"

namespace lockstep::models {
namespace {

std::unique_ptr<Chain> make_downsample(LayerFactory& make, std::int64_t in, std::int64_t out,
                                       std::int64_t stride) {
  auto downsample = std::make_unique<Chain>();
  downsample->then(0, make.conv2d(residual_convolution(in, out, 1, stride)))
      .then(1, make.batch_norm2d({.channels = out}));
  return downsample;
}

}  // namespace

Conv2dSpec residual_convolution(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride) {
  return {.in = in,
          .out = out,
          .kernel = kernel,
          .stride = stride,
          .padding = kernel / 2,
          .bias = false,
          .weight_init = WeightInit::kaiming_normal_out};
}

ResidualBlock::ResidualBlock(LayerFactory& make, std::int64_t in, std::int64_t out, std::int64_t stride)
    : conv1_(add("conv1", make.conv2d(residual_convolution(in, out, 3, stride)))),
      bn1_(add("bn1", make.batch_norm2d({.channels = out, .then = Activation::relu}))),
      conv2_(add("conv2", make.conv2d(residual_convolution(out, out, 3, 1)))),
      bn2_(add("bn2", make.batch_norm2d_join({.channels = out, .then = Activation::relu}))) {
  if (stride != 1 || in != out) downsample_ = &add("downsample", make_downsample(make, in, out, stride));
}

at::Tensor ResidualBlock::forward(Runner& runner, const at::Tensor& input) {
  const at::Tensor shortcut = downsample_ != nullptr ? runner.run(*downsample_, input) : input;
  const at::Tensor x = runner.run(bn1_, runner.run(conv1_, input));
  return runner.run(bn2_, runner.run(conv2_, x), shortcut);
}

std::unique_ptr<Chain> make_stage(LayerFactory& make, std::int64_t in, std::int64_t out,
                                  std::int64_t stride) {
  auto stage = std::make_unique<Chain>();
  stage->then(0, std::make_unique<ResidualBlock>(make, in, out, stride))
      .then(1, std::make_unique<ResidualBlock>(make, out, out, 1));
  return stage;
}

}  // namespace lockstep::models
