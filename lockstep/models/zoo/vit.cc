// A vision transformer small enough to be counted by hand: patches of 4x4 pixels, a class token, fixed
// sinusoidal position codes, pre-norm blocks whose heads have q, k and v maps of their own, and a linear head
// on the class token.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "lockstep/base/error.h"
#include "lockstep/models/layers/layers.h"
#include "lockstep/models/zoo/chain.h"
#include "lockstep/models/zoo/zoo.h"

namespace lockstep::models {
namespace {

constexpr std::int64_t kPatch = 4;
constexpr std::int64_t kMlpFactor = 4;

// [tokens, width]: sine in the even columns, cosine in the odd ones, wavelengths growing to 10000.
at::Tensor position_codes(std::int64_t tokens, std::int64_t width) {
  at::Tensor codes = at::empty({tokens, width}, at::TensorOptions().dtype(at::kDouble));
  double* out = codes.data_ptr<double>();
  for (std::int64_t token = 0; token < tokens; ++token) {
    for (std::int64_t column = 0; column < width; ++column) {
      const auto pair = static_cast<double>(column - column % 2);
      const double angle = static_cast<double>(token) / std::pow(10000.0, pair / static_cast<double>(width));
      *out++ = column % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  }
  return codes;
}

// Cuts the image into patches, maps each to a token, puts the class token in front and adds the position
// codes.
class Tokens : public Unit {
 public:
  Tokens(LayerFactory& make, const ModelOptions& options)
      : patch_values_(options.channels * kPatch * kPatch),
        map_(add("map", make.linear({.in = patch_values_, .out = options.width}))) {
    const std::int64_t tokens = 1 + options.image_height / kPatch * (options.image_width / kPatch);
    class_token_ =
        add_parameter("class_token", make_tensor(make.options(), {1, options.width}), Init::uniform(1.0));
    codes_ = position_codes(tokens, options.width)
                 .to(at::TensorOptions().dtype(make.options().dtype).device(make.options().device));
  }

  at::Tensor forward(Runner& runner, const at::Tensor& input) override {  // [batch, channels, height, width]
    const std::int64_t batch = input.size(0), rows = input.size(2) / kPatch, columns = input.size(3) / kPatch;
    const at::Tensor patches = input.reshape({batch, input.size(1), rows, kPatch, columns, kPatch})
                                   .permute({0, 2, 4, 1, 3, 5})
                                   .reshape({batch, rows * columns, patch_values_});
    const at::Tensor tokens = runner.run(map_, patches);  // [batch, rows * columns, width]
    const at::Tensor first = class_token_.expand({batch, 1, class_token_.size(1)});
    return at::cat({first, tokens}, 1).add(codes_);
  }

 private:
  std::int64_t patch_values_;
  Unit& map_;
  at::Tensor class_token_;  // [1, width]
  at::Tensor codes_;        // [tokens, width], fixed
};

class Block : public Unit {
 public:
  Block(LayerFactory& make, const ModelOptions& options)
      : norm1_(add("norm1", make.layer_norm({.width = options.width}))),
        attention_(add("attention", make.head_attention({.width = options.width, .heads = options.heads}))),
        norm2_(add("norm2", make.layer_norm({.width = options.width}))),
        mlp_(add("mlp", make_mlp(make, options.width))) {}

  at::Tensor forward(Runner& runner, const at::Tensor& input) override {  // [batch, tokens, width]
    const at::Tensor x = input + runner.run(attention_, runner.run(norm1_, input));
    return x + runner.run(mlp_, runner.run(norm2_, x));
  }

 private:
  static std::unique_ptr<Chain> make_mlp(LayerFactory& make, std::int64_t width) {
    auto mlp = std::make_unique<Chain>();
    mlp->then(0, make.linear({.in = width, .out = kMlpFactor * width, .then = Activation::gelu}))
        .then(2, make.linear({.in = kMlpFactor * width, .out = width}));
    return mlp;
  }
  Unit &norm1_, &attention_, &norm2_, &mlp_;
};

class Vit : public Unit {
 public:
  Vit(LayerFactory& make, const ModelOptions& options)
      : tokens_(add("tokens", std::make_unique<Tokens>(make, options))),
        blocks_(add("blocks", make_blocks(make, options))),
        head_(add("head", make.linear({.in = options.width, .out = options.classes}))) {}

  at::Tensor forward(Runner& runner, const at::Tensor& input) override {   // [batch, 1, 28, 28]
    const at::Tensor x = runner.run(blocks_, runner.run(tokens_, input));  // [batch, 50, width]
    return runner.run(head_, x.select(1, 0));
  }

 private:
  static std::unique_ptr<Chain> make_blocks(LayerFactory& make, const ModelOptions& options) {
    auto blocks = std::make_unique<Chain>();
    for (std::int64_t i = 0; i < options.depth; ++i) blocks->then(i, std::make_unique<Block>(make, options));
    return blocks;
  }
  Unit &tokens_, &blocks_, &head_;
};

void check(const ModelOptions& options) {
  if (options.width % options.heads == 0) return;
  throw base::ConfigError(fmt::format(
      "model 'vit': width {} does not divide by heads {}; use --model-options width={} or another heads",
      options.width, options.heads, (options.width / options.heads + 1) * options.heads));
}

}  // namespace

const ModelEntry kVit = {
    .name = "vit",
    .description = "a small vision transformer with 4x4 patches; options width, depth and heads",
    .limits = {.classes = 10,
               .channels = 1,
               .image_height = 28,
               .image_width = 28,
               .smallest_image = kPatch,
               .smallest_default = 8,
               .side_multiple = kPatch,
               .width = 16,
               .depth = 2,
               .heads = 4},
    .head = "head",
    .build = [](LayerFactory& make, const ModelOptions& options) -> std::unique_ptr<Unit> {
      check(options);
      return std::make_unique<Vit>(make, options);
    },
};

}  // namespace lockstep::models
