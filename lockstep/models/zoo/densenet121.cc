// DenseNet-121 as torchvision has it: in a dense block every layer reads all maps made before it and adds 32
// of its own.
#include <ATen/ATen.h>

#include <array>

#include "lockstep/models/zoo/chain.h"
#include "lockstep/models/zoo/zoo.h"

namespace lockstep::models {
namespace {

constexpr std::int64_t kGrowth = 32;
constexpr std::int64_t kBottleneck = 4 * kGrowth;
constexpr std::array<std::int64_t, 4> kBlockLayers = {6, 12, 24, 16};

Conv2dSpec convolution(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride = 1) {
  return {.in = in,
          .out = out,
          .kernel = kernel,
          .stride = stride,
          .padding = kernel / 2,
          .bias = false,
          .weight_init = WeightInit::kaiming_normal_in};
}

BatchNorm2dSpec norm_relu(std::int64_t channels) {
  return {.channels = channels, .then = Activation::relu};
}

std::unique_ptr<Chain> make_dense_layer(LayerFactory& make, std::int64_t in) {
  auto layer = std::make_unique<Chain>();
  layer->then("norm1", make.batch_norm2d(norm_relu(in)))
      .then("conv1", make.conv2d(convolution(in, kBottleneck, 1)))
      .then("norm2", make.batch_norm2d(norm_relu(kBottleneck)))
      .then("conv2", make.conv2d(convolution(kBottleneck, kGrowth, 3)));
  return layer;
}

class DenseBlock : public Unit {
 public:
  DenseBlock(LayerFactory& make, std::int64_t in, std::int64_t layers) {
    for (std::int64_t i = 0; i < layers; ++i) {
      add("denselayer" + std::to_string(i + 1), make_dense_layer(make, in + i * kGrowth));
    }
  }

  at::Tensor forward(Runner& runner, const at::Tensor& input) override {
    std::vector<at::Tensor> maps = {input};
    for (const auto& layer : children()) {
      maps.push_back(runner.run(*layer, maps.size() == 1 ? input : at::cat(maps, 1)));
    }
    return at::cat(maps, 1);  // [batch, in + layers * growth, height, width]
  }
};

std::unique_ptr<Chain> make_transition(LayerFactory& make, std::int64_t in) {
  auto transition = std::make_unique<Chain>();
  transition->then("norm", make.batch_norm2d(norm_relu(in)))
      .then("conv", make.conv2d(convolution(in, in / 2, 1)))
      .then("pool", make.avg_pool2d({}));
  return transition;
}

std::unique_ptr<Chain> make_features(LayerFactory& make) {
  auto features = std::make_unique<Chain>();
  std::int64_t width = 64;
  features->then("conv0", make.conv2d(convolution(3, width, 7, 2)))
      .then("norm0", make.batch_norm2d(norm_relu(width)))
      .then("pool0", make.max_pool2d({.kernel = 3, .stride = 2, .padding = 1}));
  for (std::size_t i = 0; i < kBlockLayers.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    features->then("denseblock" + number, std::make_unique<DenseBlock>(make, width, kBlockLayers[i]));
    width += kBlockLayers[i] * kGrowth;
    if (i + 1 == kBlockLayers.size()) break;
    features->then("transition" + number, make_transition(make, width));
    width /= 2;
  }
  features->then("norm5", make.batch_norm2d(norm_relu(width)));
  return features;
}

class DenseNet121 : public Unit {
 public:
  DenseNet121(LayerFactory& make, std::int64_t classes)
      : features_(add("features", make_features(make))),
        pool_(add("avgpool", make.adaptive_avg_pool2d(1))),
        classifier_(
            add("classifier", make.linear({.in = 1024, .out = classes, .bias_init = BiasInit::zero}))) {}

  at::Tensor forward(Runner& runner, const at::Tensor& input) override {      // [batch, 3, 224, 224]
    const at::Tensor maps = runner.run(pool_, runner.run(features_, input));  // [batch, 1024, 1, 1]
    return runner.run(classifier_, maps.flatten(1));
  }

 private:
  Unit &features_, &pool_, &classifier_;
};

}  // namespace

const ModelEntry kDenseNet121 = {
    .name = "densenet121",
    .description = "DenseNet-121 (torchvision): deep, with many small layers and large activations",
    .limits = {.classes = 1000,
               .channels_adapt = false,
               .image_height = 224,
               .image_width = 224,
               .smallest_image = 29,
               .smallest_default = 32},
    .head = "classifier",
    .build = [](LayerFactory& make, const ModelOptions& options) -> std::unique_ptr<Unit> {
      return std::make_unique<DenseNet121>(make, options.classes);
    },
    .prefers_channels_last = true,
};

}  // namespace lockstep::models
