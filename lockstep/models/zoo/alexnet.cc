// AlexNet as torchvision has it: five convolutions and three linear layers with dropout before the first two.
#include <ATen/ATen.h>

#include "lockstep/models/zoo/chain.h"
#include "lockstep/models/zoo/zoo.h"

namespace lockstep::models {
namespace {

std::unique_ptr<Chain> make_features(LayerFactory& make) {
  constexpr auto kRelu = Activation::relu;
  const Pool2dSpec pool{.kernel = 3, .stride = 2};
  auto features = std::make_unique<Chain>();
  features->then(0, make.conv2d({.in = 3, .out = 64, .kernel = 11, .stride = 4, .padding = 2, .then = kRelu}))
      .then(2, make.max_pool2d(pool))
      .then(3, make.conv2d({.in = 64, .out = 192, .kernel = 5, .padding = 2, .then = kRelu}))
      .then(5, make.max_pool2d(pool))
      .then(6, make.conv2d({.in = 192, .out = 384, .kernel = 3, .padding = 1, .then = kRelu}))
      .then(8, make.conv2d({.in = 384, .out = 256, .kernel = 3, .padding = 1, .then = kRelu}))
      .then(10, make.conv2d({.in = 256, .out = 256, .kernel = 3, .padding = 1, .then = kRelu}))
      .then(12, make.max_pool2d(pool));
  return features;
}

std::unique_ptr<Chain> make_classifier(LayerFactory& make, std::int64_t classes) {
  auto classifier = std::make_unique<Chain>();
  classifier->then(0, make.dropout(0.5))
      .then(1, make.linear({.in = 256 * 6 * 6, .out = 4096, .then = Activation::relu}))
      .then(3, make.dropout(0.5))
      .then(4, make.linear({.in = 4096, .out = 4096, .then = Activation::relu}))
      .then(6, make.linear({.in = 4096, .out = classes}));
  return classifier;
}

class AlexNet : public Unit {
 public:
  AlexNet(LayerFactory& make, std::int64_t classes)
      : features_(add("features", make_features(make))),
        pool_(add("avgpool", make.adaptive_avg_pool2d(6))),
        classifier_(add("classifier", make_classifier(make, classes))) {}

  at::Tensor forward(Runner& runner, const at::Tensor& input) override {      // [batch, 3, 224, 224]
    const at::Tensor maps = runner.run(pool_, runner.run(features_, input));  // [batch, 256, 6, 6]
    return runner.run(classifier_, maps.flatten(1));
  }

 private:
  Unit &features_, &pool_, &classifier_;
};

}  // namespace

const ModelEntry kAlexNet = {
    .name = "alexnet",
    .description = "AlexNet (torchvision): few convolutions, 96 % of the parameters in linear layers",
    .limits = {.classes = 1000,
               .channels_adapt = false,
               .image_height = 224,
               .image_width = 224,
               .smallest_image = 63,
               .smallest_default = 64},
    .head = "classifier.6",
    .build = [](LayerFactory& make, const ModelOptions& options) -> std::unique_ptr<Unit> {
      return std::make_unique<AlexNet>(make, options.classes);
    },
};

}  // namespace lockstep::models
