// VGG-16 as torchvision has it: thirteen 3x3 convolutions in five groups, three linear layers.
#include <ATen/ATen.h>

#include <array>

#include "lockstep/models/zoo/chain.h"
#include "lockstep/models/zoo/zoo.h"

namespace lockstep::models {
namespace {

constexpr std::int64_t kPool = 0;
constexpr std::array<std::int64_t, 18> kLayers = {64,    64,  kPool, 128, 128,   kPool, 256, 256, 256,
                                                  kPool, 512, 512,   512, kPool, 512,   512, 512, kPool};

Conv2dSpec convolution(std::int64_t in, std::int64_t out) {
  return {.in = in,
          .out = out,
          .kernel = 3,
          .padding = 1,
          .then = Activation::relu,
          .weight_init = WeightInit::kaiming_normal_out,
          .bias_init = BiasInit::zero};
}

// torchvision numbers the ReLUs too: a convolution takes two numbers, a pool one.
std::unique_ptr<Chain> make_features(LayerFactory& make) {
  auto features = std::make_unique<Chain>();
  std::int64_t in = 3, number = 0;
  for (const std::int64_t out : kLayers) {
    if (out == kPool) {
      features->then(number++, make.max_pool2d({}));
    } else {
      features->then(number, make.conv2d(convolution(in, out)));
      number += 2;
      in = out;
    }
  }
  return features;
}

LinearSpec linear(std::int64_t in, std::int64_t out, Activation then) {
  return {.in = in,
          .out = out,
          .then = then,
          .weight_init = WeightInit::normal_hundredth,
          .bias_init = BiasInit::zero};
}

std::unique_ptr<Chain> make_classifier(LayerFactory& make, std::int64_t classes) {
  auto classifier = std::make_unique<Chain>();
  classifier->then(0, make.linear(linear(512 * 7 * 7, 4096, Activation::relu)))
      .then(2, make.dropout(0.5))
      .then(3, make.linear(linear(4096, 4096, Activation::relu)))
      .then(5, make.dropout(0.5))
      .then(6, make.linear(linear(4096, classes, Activation::none)));
  return classifier;
}

class Vgg16 : public Unit {
 public:
  Vgg16(LayerFactory& make, std::int64_t classes)
      : features_(add("features", make_features(make))),
        pool_(add("avgpool", make.adaptive_avg_pool2d(7))),
        classifier_(add("classifier", make_classifier(make, classes))) {}

  at::Tensor forward(Runner& runner, const at::Tensor& input) override {      // [batch, 3, 224, 224]
    const at::Tensor maps = runner.run(pool_, runner.run(features_, input));  // [batch, 512, 7, 7]
    return runner.run(classifier_, maps.flatten(1));
  }

 private:
  Unit &features_, &pool_, &classifier_;
};

}  // namespace

const ModelEntry kVgg16 = {
    .name = "vgg16",
    .description = "VGG-16 (torchvision): heavy in arithmetic and in parameters",
    .limits = {.classes = 1000,
               .channels_adapt = false,
               .image_height = 224,
               .image_width = 224,
               .smallest_image = 32,
               .smallest_default = 32},
    .head = "classifier.6",
    .build = [](LayerFactory& make, const ModelOptions& options) -> std::unique_ptr<Unit> {
      return std::make_unique<Vgg16>(make, options.classes);
    },
};

}  // namespace lockstep::models
