// The layers of a GPU against plain arithmetic in f32, and against the masks of the CPU.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <span>

#include "lockstep/models/gradient_slot.h"
#include "lockstep/models/layers/layers.h"
#include "lockstep/models/runner.h"
#include "lockstep/train/gpu.h"

namespace lockstep::train {
namespace {

constexpr double kRounding = 0.02;  // of bf16, as a share of the largest value

const models::LayerOptions kOptions{at::kBFloat16, at::Device(at::kCUDA, 0), true};

at::Tensor random_map(at::IntArrayRef sizes) {
  return at::randn(sizes, at::TensorOptions().device(kOptions.device))
      .to(at::kBFloat16)
      .contiguous(at::MemoryFormat::ChannelsLast);
}

void expect_close(const at::Tensor& value, const at::Tensor& expected, const char* what) {
  ASSERT_TRUE(value.defined()) << what;
  const double scale = expected.abs().max().item<double>();
  EXPECT_LE((value.to(at::kFloat) - expected).abs().max().item<double>(), kRounding * scale) << what;
}

at::Tensor leaf(const at::Tensor& value) {
  return value.detach().clone().set_requires_grad(true);
}
at::Tensor f32_leaf(const at::Tensor& value) {
  return leaf(value.to(at::kFloat));
}

class CudaLayersOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!at::hasCUDA()) GTEST_SKIP() << "this libtorch finds no GPU";
  }

  // A layer with parameters around 1.
  std::unique_ptr<models::Unit> ready(std::unique_ptr<models::Unit> unit) {
    const at::NoGradGuard no_grad;
    for (const models::Parameter& parameter : unit->own_parameters()) {
      at::Tensor value = parameter.value;
      value.copy_(at::randn(value.sizes(), value.options()) * 0.3 + 0.5);
      value.set_requires_grad(true);
    }
    for (const models::Parameter& buffer : unit->own_buffers()) at::Tensor(buffer.value).zero_();
    return unit;
  }

  void expect_norm_as_plain(at::IntArrayRef sizes, bool joins, models::Activation then) {
    auto factory = device_layers(kOptions);
    auto unit = ready(factory->batch_norm2d({.channels = sizes[1], .then = then}));
    const at::Tensor input = leaf(random_map(sizes) + 3), shortcut = leaf(random_map(sizes));
    const at::Tensor slope = random_map(sizes);
    models::Runner runner;
    const at::Tensor out = joins ? runner.run(*unit, input, shortcut) : runner.run(*unit, input);
    out.backward(slope);

    const auto parameters = unit->own_parameters(), buffers = unit->own_buffers();
    const at::Tensor x = f32_leaf(input), s = f32_leaf(shortcut), w = f32_leaf(parameters[0].value),
                     b = f32_leaf(parameters[1].value);
    const at::Tensor mean = at::zeros_like(w), variance = at::zeros_like(w);
    at::Tensor expected = at::batch_norm(x, w, b, mean, variance, true, 0.1, 1e-5, false);
    if (joins) expected = expected + s;
    const bool relu = then == models::Activation::relu;
    // At zero, rounding decides about the ReLU.
    expected.backward(relu ? slope.to(at::kFloat) * out.detach().gt(0) : slope.to(at::kFloat));

    expect_close(out, relu ? expected.detach().relu() : expected.detach(), "output");
    expect_close(input.grad(), x.grad(), "gradient of the input");
    if (joins) expect_close(shortcut.grad(), s.grad(), "gradient of the shortcut");
    expect_close(parameters[0].value.grad(), w.grad(), "gradient of the weight");
    expect_close(parameters[1].value.grad(), b.grad(), "gradient of the bias");
    EXPECT_LE((buffers[0].value - mean.detach()).abs().max().item<double>(), 1e-3);
    EXPECT_LE((buffers[1].value - variance.detach()).abs().max().item<double>(), 1e-3);
  }
};

TEST_F(CudaLayersOnGpu, BatchNormIsThatOfPlainArithmetic) {
  using models::Activation;
  expect_norm_as_plain({4, 16, 5, 7}, false, Activation::none);
  expect_norm_as_plain({4, 16, 5, 7}, false, Activation::relu);
  expect_norm_as_plain({4, 24, 5, 7}, true, Activation::relu);
  expect_norm_as_plain({128, 64, 32, 32}, true, Activation::relu);
  expect_norm_as_plain({32, 96, 16, 16}, false, Activation::relu);
  expect_norm_as_plain({64, 512, 4, 4}, true, Activation::none);
}

TEST_F(CudaLayersOnGpu, BatchNormGivesTheSameBitsTwice) {
  auto factory = device_layers(kOptions);
  auto unit = ready(factory->batch_norm2d({.channels = 64, .then = models::Activation::relu}));
  const at::Tensor input = leaf(random_map({64, 64, 16, 16})), slope = random_map({64, 64, 16, 16});
  models::Runner runner;
  std::vector<at::Tensor> gradients;
  for (int turn = 0; turn < 2; ++turn) {
    input.mutable_grad().reset();
    unit->own_parameters()[0].value.mutable_grad().reset();
    runner.run(*unit, input).backward(slope);
    gradients.push_back(input.grad().clone());
    gradients.push_back(unit->own_parameters()[0].value.grad().clone());
  }
  EXPECT_TRUE(at::equal(gradients[0], gradients[2]));
  EXPECT_TRUE(at::equal(gradients[1], gradients[3]));
}

TEST_F(CudaLayersOnGpu, ConvolutionHasItsBiasAndReluOnce) {
  auto factory = device_layers(kOptions);
  auto unit = ready(
      factory->conv2d({.in = 8, .out = 24, .kernel = 3, .padding = 1, .then = models::Activation::relu}));
  const at::Tensor input = leaf(random_map({16, 8, 9, 9})), slope = random_map({16, 24, 9, 9});
  models::Runner runner;
  const at::Tensor out = runner.run(*unit, input);
  out.backward(slope);
  const auto parameters = unit->own_parameters();
  const at::Tensor x = f32_leaf(input), w = f32_leaf(parameters[0].value), b = f32_leaf(parameters[1].value);
  const at::Tensor before = at::conv2d(x, w, b, 1, 1);
  before.backward(slope.to(at::kFloat) * out.detach().gt(0));  // at zero, rounding decides about the ReLU
  expect_close(out, before.detach().relu(), "output");
  expect_close(input.grad(), x.grad(), "gradient of the input");
  expect_close(parameters[0].value.grad(), w.grad(), "gradient of the weight");
  expect_close(parameters[1].value.grad(), b.grad(), "gradient of the bias");
}

at::Tensor moved_by(std::int64_t elements, const at::Tensor& like) {
  return at::empty({like.numel() + elements}, like.options().requires_grad(false))
      .as_strided(like.sizes(), like.strides(), elements);
}

// The output, the gradient of the input and those of the parameters, where the parameters and what their
// gradients are written to begin so many elements after an aligned address, as in a bucket behind a tensor of
// odd size.
std::vector<at::Tensor> results_at(models::Unit& unit, const at::Tensor& map, const at::Tensor& slope,
                                   std::span<const std::int64_t> offsets) {
  const auto slots = models::gradient_slots_of(unit);
  const auto parameters = unit.own_parameters();
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    const at::NoGradGuard no_grad;
    at::Tensor value = parameters[index].value;
    const at::Tensor place = moved_by(offsets[index], value);
    place.copy_(value.detach());
    value.set_data(place);
    value.mutable_grad().reset();
    slots[index]->view = moved_by(offsets[index], value);
    slots[index]->fresh = true;
  }
  const at::Tensor input = leaf(map);
  models::Runner runner;
  const at::Tensor out = runner.run(unit, input);
  out.backward(slope);
  std::vector<at::Tensor> results = {out.detach(), input.grad()};
  for (std::size_t index = 0; index < parameters.size(); ++index)
    results.push_back(slots[index]->in_use() ? slots[index]->view : parameters[index].value.grad());
  return results;
}

TEST_F(CudaLayersOnGpu, BatchNormGivesTheSameBitsWhereverItsParametersBegin) {
  auto factory = device_layers(kOptions);
  auto unit = ready(factory->batch_norm2d({.channels = 48, .then = models::Activation::relu}));
  const at::Tensor map = random_map({8, 48, 9, 7}), slope = random_map({8, 48, 9, 7});
  std::vector<std::int64_t> offsets = {0, 0};
  const std::vector<at::Tensor> aligned = results_at(*unit, map, slope, offsets);
  for (offsets[0] = 0; offsets[0] < 8; ++offsets[0]) {
    for (offsets[1] = 0; offsets[1] < 8; ++offsets[1]) {
      const std::vector<at::Tensor> results = results_at(*unit, map, slope, offsets);
      for (std::size_t index = 0; index < results.size(); ++index)
        EXPECT_TRUE(at::equal(results[index], aligned[index])) << index;
    }
  }
}

// The weight stays where it is, and its gradient and the input's are cuDNN's, which may add up in any order.
TEST_F(CudaLayersOnGpu, ConvolutionGivesTheSameBitsWhereverItsBiasBegins) {
  auto factory = device_layers(kOptions);
  auto unit = ready(
      factory->conv2d({.in = 8, .out = 24, .kernel = 3, .padding = 1, .then = models::Activation::relu}));
  const at::Tensor map = random_map({16, 8, 9, 9}), slope = random_map({16, 24, 9, 9});
  std::vector<std::int64_t> offsets = {0, 0};
  const std::vector<at::Tensor> aligned = results_at(*unit, map, slope, offsets);
  for (offsets[1] = 0; offsets[1] < 8; ++offsets[1]) {
    const std::vector<at::Tensor> results = results_at(*unit, map, slope, offsets);
    EXPECT_TRUE(at::equal(results.front(), aligned.front())) << offsets[1];
    EXPECT_TRUE(at::equal(results.back(), aligned.back())) << offsets[1];
  }
}

TEST_F(CudaLayersOnGpu, DropoutDropsWhatTheCpuDrops) {
  auto factory = device_layers(kOptions);
  const auto unit = factory->dropout(0.4);
  const std::vector<std::int64_t> samples = {5, 1000, 77};
  const at::Tensor words =
      at::tensor({9, 5, 1000, 77}, at::TensorOptions().dtype(at::kLong)).to(kOptions.device);
  models::PassKey key;
  key.seed = 42;
  key.step = 9;
  key.samples = samples;
  models::Dropout plain(0.4);
  models::Runner runner, other;
  const at::Tensor host = at::ones({3, 8, 5, 6});
  const at::Tensor expected = other.forward(plain, host, key);
  key.device_step = words.data_ptr<std::int64_t>();
  key.device_samples = key.device_step + 1;
  const at::Tensor contiguous = host.to(kOptions.device);
  EXPECT_TRUE(at::equal(runner.forward(*unit, contiguous, key).cpu(), expected));
  const at::Tensor turned = leaf(contiguous.contiguous(at::MemoryFormat::ChannelsLast));
  const at::Tensor out = runner.forward(*unit, turned, key);
  EXPECT_TRUE(at::equal(out.detach().cpu(), expected));
  out.sum().backward();
  EXPECT_TRUE(at::equal(turned.grad().cpu(), expected));
}

}  // namespace
}  // namespace lockstep::train
