// LeNet-5 with ReLU and max-pools: two convolutions, three linear layers. Small enough for runs of seconds.
#include <ATen/ATen.h>

#include "lockstep/models/runner.h"
#include "lockstep/models/zoo/zoo.h"

namespace lockstep::models {
namespace {

// The side after both convolutions (the first padded by 2, the second not) and both pools.
std::int64_t final_side(std::int64_t side) {
  return (side / 2 - 4) / 2;
}

class LeNet5 : public Unit {
 public:
  LeNet5(LayerFactory& make, const ModelOptions& options)
      : conv1_(add(
            "conv1",
            make.conv2d(
                {.in = options.channels, .out = 6, .kernel = 5, .padding = 2, .then = Activation::relu}))),
        pool1_(add("pool1", make.max_pool2d({}))),
        conv2_(add("conv2", make.conv2d({.in = 6, .out = 16, .kernel = 5, .then = Activation::relu}))),
        pool2_(add("pool2", make.max_pool2d({}))),
        fc1_(add("fc1",
                 make.linear({.in = 16 * final_side(options.image_height) * final_side(options.image_width),
                              .out = 120,
                              .then = Activation::relu}))),
        fc2_(add("fc2", make.linear({.in = 120, .out = 84, .then = Activation::relu}))),
        fc3_(add("fc3", make.linear({.in = 84, .out = options.classes}))) {}

  at::Tensor forward(Runner& runner, const at::Tensor& input) override {  // [batch, channels, 28, 28]
    at::Tensor x = runner.run(pool1_, runner.run(conv1_, input));         // [batch, 6, 14, 14]
    x = runner.run(pool2_, runner.run(conv2_, x)).flatten(1);             // [batch, 400]
    return runner.run(fc3_, runner.run(fc2_, runner.run(fc1_, x)));
  }

 private:
  Unit &conv1_, &pool1_, &conv2_, &pool2_, &fc1_, &fc2_, &fc3_;
};

}  // namespace

const ModelEntry kLeNet5 = {
    .name = "lenet5",
    .description = "LeNet-5 with ReLU and max-pools, for quick runs",
    .limits = {.classes = 10,
               .channels = 1,
               .image_height = 28,
               .image_width = 28,
               .smallest_image = 12,
               .smallest_default = 12},
    .head = "fc3",
    .build = [](LayerFactory& make, const ModelOptions& options) -> std::unique_ptr<Unit> {
      return std::make_unique<LeNet5>(make, options);
    },
};

}  // namespace lockstep::models
