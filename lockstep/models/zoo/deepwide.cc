// A plain stack of equal 3x3 convolutions at full resolution: its activations grow with depth, width and
// batch, its parameters with depth and the square of the width. Made to exhaust memory in a way that is easy
// to predict.
#include <ATen/ATen.h>

#include "lockstep/models/zoo/chain.h"
#include "lockstep/models/zoo/zoo.h"

namespace lockstep::models {
namespace {

std::unique_ptr<Chain> make_layers(LayerFactory& make, const ModelOptions& options) {
  auto layers = std::make_unique<Chain>();
  for (std::int64_t i = 0; i < options.depth; ++i) {
    layers->then(i, make.conv2d({.in = i == 0 ? options.channels : options.width,
                                 .out = options.width,
                                 .kernel = 3,
                                 .padding = 1,
                                 .then = Activation::relu,
                                 .weight_init = WeightInit::kaiming_normal_in,
                                 .bias_init = BiasInit::zero}));
  }
  return layers;
}

class DeepWide : public Unit {
 public:
  DeepWide(LayerFactory& make, const ModelOptions& options)
      : layers_(add("layers", make_layers(make, options))),
        pool_(add("pool", make.adaptive_avg_pool2d(1))),
        head_(add("head", make.linear({.in = options.width, .out = options.classes}))) {}

  at::Tensor forward(Runner& runner, const at::Tensor& input) override {  // [batch, channels, height, width]
    const at::Tensor maps = runner.run(pool_, runner.run(layers_, input));  // [batch, width, 1, 1]
    return runner.run(head_, maps.flatten(1));
  }

 private:
  Unit &layers_, &pool_, &head_;
};

}  // namespace

const ModelEntry kDeepWide = {
    .name = "deepwide",
    .description =
        "equal convolutions at full resolution; options depth and width make it exhaust any memory",
    .limits = {.classes = 10, .channels = 1, .image_height = 28, .image_width = 28, .width = 64, .depth = 8},
    .head = "head",
    .build = [](LayerFactory& make, const ModelOptions& options) -> std::unique_ptr<Unit> {
      return std::make_unique<DeepWide>(make, options);
    },
};

}  // namespace lockstep::models
