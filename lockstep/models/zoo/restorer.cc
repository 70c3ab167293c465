// A small residual network that denoises: it predicts the noise and takes it away. Fully convolutional, so it
// runs on patches in training and on whole photographs in validation.
#include <ATen/ATen.h>

#include "lockstep/base/error.h"
#include "lockstep/models/zoo/chain.h"
#include "lockstep/models/zoo/zoo.h"

namespace lockstep::models {
namespace {

std::unique_ptr<Chain> make_layers(LayerFactory& make, const ModelOptions& options) {
  auto layers = std::make_unique<Chain>();
  for (std::int64_t i = 0; i + 1 < options.depth; ++i) {
    layers->then(i, make.conv2d({.in = i == 0 ? options.channels : options.width,
                                 .out = options.width,
                                 .kernel = 3,
                                 .padding = 1,
                                 .then = Activation::relu,
                                 .weight_init = WeightInit::kaiming_normal_in,
                                 .bias_init = BiasInit::zero}));
  }
  // Almost nothing at first, so that training starts from the noisy image itself.
  layers->then(options.depth - 1, make.conv2d({.in = options.width,
                                               .out = options.channels,
                                               .kernel = 3,
                                               .padding = 1,
                                               .weight_init = WeightInit::normal_thousandth,
                                               .bias_init = BiasInit::zero}));
  return layers;
}

class Restorer : public Unit {
 public:
  Restorer(LayerFactory& make, const ModelOptions& options)
      : layers_(add("layers", make_layers(make, options))) {}

  at::Tensor forward(Runner& runner,
                     const at::Tensor& input) override {  // [batch, channels, height, width], noisy
    return input - runner.run(layers_, input);
  }

 private:
  Unit& layers_;
};

}  // namespace

const ModelEntry kRestorer = {
    .name = "restorer",
    .description = "a small residual network that denoises images, judged by PSNR",
    .loss = LossKind::restore,
    .limits = {.classes = 0, .image_height = 64, .image_width = 64, .width = 32, .depth = 8},
    .head = "",
    .build = [](LayerFactory& make, const ModelOptions& options) -> std::unique_ptr<Unit> {
      if (options.depth < 2)
        throw base::ConfigError("model 'restorer' needs --depth 2 or more; the default is 8");
      return std::make_unique<Restorer>(make, options);
    },
};

}  // namespace lockstep::models
