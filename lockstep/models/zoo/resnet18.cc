// ResNet-18 as torchvision has it, and its variant for small images: a 3x3 stem without stride and no
// max-pool.
#include <ATen/ATen.h>

#include "lockstep/models/zoo/residual.h"
#include "lockstep/models/zoo/zoo.h"

namespace lockstep::models {
namespace {

enum class Stem { imagenet, cifar };

Conv2dSpec stem_convolution(Stem stem, const ModelOptions& options) {
  return stem == Stem::imagenet ? residual_convolution(options.channels, options.width, 7, 2)
                                : residual_convolution(options.channels, options.width, 3, 1);
}

class ResNet18 : public Unit {
 public:
  ResNet18(LayerFactory& make, const ModelOptions& options, Stem stem)
      : conv1_(add("conv1", make.conv2d(stem_convolution(stem, options)))),
        bn1_(add("bn1", make.batch_norm2d({.channels = options.width, .then = Activation::relu}))) {
    const std::int64_t width = options.width;
    if (stem == Stem::imagenet) {
      body_.push_back(&add("maxpool", make.max_pool2d({.kernel = 3, .stride = 2, .padding = 1})));
    }
    body_.push_back(&add("layer1", make_stage(make, width, width, 1)));
    body_.push_back(&add("layer2", make_stage(make, width, 2 * width, 2)));
    body_.push_back(&add("layer3", make_stage(make, 2 * width, 4 * width, 2)));
    body_.push_back(&add("layer4", make_stage(make, 4 * width, 8 * width, 2)));
    body_.push_back(&add("avgpool", make.adaptive_avg_pool2d(1)));
    fc_ = &add("fc", make.linear({.in = 8 * width, .out = options.classes}));
  }

  at::Tensor forward(Runner& runner, const at::Tensor& input) override {  // [batch, channels, height, width]
    at::Tensor x = runner.run(bn1_, runner.run(conv1_, input));
    for (Unit* part : body_) x = runner.run(*part, x);  // [batch, 8 * width, 1, 1]
    return runner.run(*fc_, x.flatten(1));
  }

 private:
  Unit &conv1_, &bn1_;
  std::vector<Unit*> body_;
  Unit* fc_;
};

}  // namespace

const ModelEntry kResNet18 = {
    .name = "resnet18",
    .description = "ResNet-18 (torchvision)",
    .limits = {.classes = 1000, .channels_adapt = false, .image_height = 224, .image_width = 224},
    .head = "fc",
    .build = [](LayerFactory& make, const ModelOptions& options) -> std::unique_ptr<Unit> {
      ModelOptions standard = options;
      standard.width = 64;
      return std::make_unique<ResNet18>(make, standard, Stem::imagenet);
    },
};

const ModelEntry kResNet18Cifar = {
    .name = "resnet18-cifar",
    .description = "ResNet-18 for small images: 3x3 stem, no max-pool; option width makes it narrow",
    .limits = {.classes = 10, .image_height = 32, .image_width = 32, .width = 64},
    .head = "fc",
    .build = [](LayerFactory& make, const ModelOptions& options) -> std::unique_ptr<Unit> {
      return std::make_unique<ResNet18>(make, options, Stem::cifar);
    },
    .prefers_channels_last = true,
};

}  // namespace lockstep::models
