// NVIDIA's steering network (PilotNet): five convolutions without padding, four linear layers, one number
// out.
#include <ATen/ATen.h>

#include "lockstep/models/zoo/chain.h"
#include "lockstep/models/zoo/zoo.h"

namespace lockstep::models {
namespace {

// The side after three 5x5 convolutions of stride 2 and two 3x3 ones.
std::int64_t final_side(std::int64_t side) {
  for (int i = 0; i < 3; ++i) side = (side - 5) / 2 + 1;
  return side - 4;
}

std::unique_ptr<Chain> make_features(LayerFactory& make, std::int64_t channels) {
  constexpr auto kRelu = Activation::relu;
  auto features = std::make_unique<Chain>();
  features->then("conv1", make.conv2d({.in = channels, .out = 24, .kernel = 5, .stride = 2, .then = kRelu}))
      .then("conv2", make.conv2d({.in = 24, .out = 36, .kernel = 5, .stride = 2, .then = kRelu}))
      .then("conv3", make.conv2d({.in = 36, .out = 48, .kernel = 5, .stride = 2, .then = kRelu}))
      .then("conv4", make.conv2d({.in = 48, .out = 64, .kernel = 3, .then = kRelu}))
      .then("conv5", make.conv2d({.in = 64, .out = 64, .kernel = 3, .then = kRelu}));
  return features;
}

std::unique_ptr<Chain> make_regressor(LayerFactory& make, std::int64_t in) {
  constexpr auto kRelu = Activation::relu;
  auto regressor = std::make_unique<Chain>();
  regressor->then("fc1", make.linear({.in = in, .out = 100, .then = kRelu}))
      .then("fc2", make.linear({.in = 100, .out = 50, .then = kRelu}))
      .then("fc3", make.linear({.in = 50, .out = 10, .then = kRelu}))
      .then("fc4", make.linear({.in = 10, .out = 1}));
  return regressor;
}

class PilotNet : public Unit {
 public:
  PilotNet(LayerFactory& make, const ModelOptions& options)
      : features_(add("features", make_features(make, options.channels))),
        regressor_(add("regressor", make_regressor(make, 64 * final_side(options.image_height) *
                                                             final_side(options.image_width)))) {}

  at::Tensor forward(Runner& runner, const at::Tensor& input) override {     // [batch, 3, 66, 200]
    return runner.run(regressor_, runner.run(features_, input).flatten(1));  // [batch, 1]
  }

 private:
  Unit &features_, &regressor_;
};

}  // namespace

const ModelEntry kPilotNet = {
    .name = "pilotnet",
    .description = "NVIDIA's steering network: a camera frame in, an angle out",
    .loss = LossKind::mse,
    .limits =
        {.classes = 0, .image_height = 66, .image_width = 200, .smallest_image = 61, .smallest_default = 66},
    .head = "regressor.fc4",
    .build = [](LayerFactory& make, const ModelOptions& options) -> std::unique_ptr<Unit> {
      return std::make_unique<PilotNet>(make, options);
    },
};

}  // namespace lockstep::models
