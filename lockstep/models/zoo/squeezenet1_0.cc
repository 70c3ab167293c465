// SqueezeNet 1.0 as torchvision has it: fire modules (a narrow 1x1 convolution, then 1x1 and 3x3 side by
// side), and a convolution as the classifier.
#include <ATen/ATen.h>

#include "lockstep/models/zoo/chain.h"
#include "lockstep/models/zoo/zoo.h"

namespace lockstep::models {
namespace {

Conv2dSpec convolution(std::int64_t in, std::int64_t out, std::int64_t kernel) {
  return {.in = in,
          .out = out,
          .kernel = kernel,
          .padding = kernel / 2,
          .then = Activation::relu,
          .weight_init = WeightInit::kaiming_uniform,
          .bias_init = BiasInit::zero};
}

class Fire : public Unit {
 public:
  Fire(LayerFactory& make, std::int64_t in, std::int64_t squeeze, std::int64_t expand)
      : squeeze_(add("squeeze", make.conv2d(convolution(in, squeeze, 1)))),
        expand1_(add("expand1x1", make.conv2d(convolution(squeeze, expand, 1)))),
        expand3_(add("expand3x3", make.conv2d(convolution(squeeze, expand, 3)))) {}

  at::Tensor forward(Runner& runner, const at::Tensor& input) override {
    const at::Tensor narrow = runner.run(squeeze_, input);
    return at::cat({runner.run(expand1_, narrow), runner.run(expand3_, narrow)}, 1);
  }

 private:
  Unit &squeeze_, &expand1_, &expand3_;
};

std::unique_ptr<Chain> make_features(LayerFactory& make) {
  const auto fire = [&make](std::int64_t in, std::int64_t squeeze, std::int64_t expand) {
    return std::make_unique<Fire>(make, in, squeeze, expand);
  };
  const Pool2dSpec pool{.kernel = 3, .stride = 2, .ceil_mode = true};
  Conv2dSpec stem = convolution(3, 96, 7);
  stem.stride = 2;
  stem.padding = 0;
  auto features = std::make_unique<Chain>();
  features->then(0, make.conv2d(stem))
      .then(2, make.max_pool2d(pool))
      .then(3, fire(96, 16, 64))
      .then(4, fire(128, 16, 64))
      .then(5, fire(128, 32, 128))
      .then(6, make.max_pool2d(pool))
      .then(7, fire(256, 32, 128))
      .then(8, fire(256, 48, 192))
      .then(9, fire(384, 48, 192))
      .then(10, fire(384, 64, 256))
      .then(11, make.max_pool2d(pool))
      .then(12, fire(512, 64, 256));
  return features;
}

std::unique_ptr<Chain> make_classifier(LayerFactory& make, std::int64_t classes) {
  Conv2dSpec last = convolution(512, classes, 1);
  last.weight_init = WeightInit::normal_hundredth;
  auto classifier = std::make_unique<Chain>();
  classifier->then(0, make.dropout(0.5)).then(1, make.conv2d(last)).then(3, make.adaptive_avg_pool2d(1));
  return classifier;
}

class SqueezeNet10 : public Unit {
 public:
  SqueezeNet10(LayerFactory& make, std::int64_t classes)
      : features_(add("features", make_features(make))),
        classifier_(add("classifier", make_classifier(make, classes))) {}

  at::Tensor forward(Runner& runner, const at::Tensor& input) override {  // [batch, 3, 224, 224]
    return runner.run(classifier_, runner.run(features_, input)).flatten(1);
  }

 private:
  Unit &features_, &classifier_;
};

}  // namespace

const ModelEntry kSqueezeNet10 = {
    .name = "squeezenet1_0",
    .description = "SqueezeNet 1.0 (torchvision): few parameters for its arithmetic",
    .limits = {.classes = 1000,
               .channels_adapt = false,
               .image_height = 224,
               .image_width = 224,
               .smallest_image = 21,
               .smallest_default = 21},
    .head = "classifier.1",
    .build = [](LayerFactory& make, const ModelOptions& options) -> std::unique_ptr<Unit> {
      return std::make_unique<SqueezeNet10>(make, options.classes);
    },
    .prefers_channels_last = true,
};

}  // namespace lockstep::models
