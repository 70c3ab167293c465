// The linear layer's own kernels against the plain tensor operations.
#include <gtest/gtest.h>

#include "lockstep/models/layers/layers.h"
#include "lockstep/models/runner.h"
#include "tests/models/models_fixture.h"

namespace lockstep::models {
namespace {

struct Result {
  at::Tensor output, input_gradient, weight_gradient, bias_gradient;
};

at::Tensor filled(at::IntArrayRef sizes, const char* name) {
  at::Tensor values = at::empty(sizes, at::TensorOptions().dtype(at::kFloat));
  fill(values, Init::uniform(1.0), 5, name);
  return values;
}

at::Tensor activated(Activation then, const at::Tensor& value) {
  if (then == Activation::relu) return at::relu(value);
  return then == Activation::gelu ? at::gelu(value) : value;
}

Result by_layer(const LinearSpec& spec, const at::Tensor& input) {
  Linear layer({}, spec);
  for (const Parameter& parameter : layer.own_parameters())
    fill(parameter.value, parameter.init, 1, parameter.name);
  const at::Tensor x = input.clone().set_requires_grad(true);
  Runner runner;
  const at::Tensor output = runner.forward(layer, x, {});
  runner.backward(output.square().sum());
  return {output.detach(), x.grad(), layer.own_parameters()[0].value.grad(),
          layer.own_parameters()[1].value.grad()};
}

// In f64, so that differences are the layer's own.
Result by_operations(const LinearSpec& spec, const at::Tensor& input) {
  Linear layer({}, spec);
  for (const Parameter& parameter : layer.own_parameters())
    fill(parameter.value, parameter.init, 1, parameter.name);
  const auto wide = [](const at::Tensor& value) {
    return value.detach().to(at::kDouble).set_requires_grad(true);
  };
  const at::Tensor x = wide(input), weight = wide(layer.own_parameters()[0].value),
                   bias = wide(layer.own_parameters()[1].value);
  const at::Tensor output = activated(spec.then, at::linear(x, weight, bias));
  Runner().backward(output.square().sum());
  return {output.detach(), x.grad(), weight.grad(), bias.grad()};
}

void expect_near(const at::Tensor& value, const at::Tensor& expected, const char* what) {
  ASSERT_EQ(value.sizes(), expected.sizes()) << what;
  const double scale = expected.abs().max().item<double>();
  EXPECT_LE((value.to(at::kDouble) - expected).abs().max().item<double>(), 1e-5 * scale) << what;
}

void expect_agreement(const LinearSpec& spec, at::IntArrayRef input_sizes) {
  SCOPED_TRACE(fmt::format("{} to {}, rows {}", spec.in, spec.out, input_sizes[0]));
  const at::Tensor input = filled(input_sizes, "input");
  const Result layer = by_layer(spec, input), plain = by_operations(spec, input);
  expect_near(layer.output, plain.output, "output");
  expect_near(layer.input_gradient, plain.input_gradient, "the input's gradient");
  expect_near(layer.weight_gradient, plain.weight_gradient, "the weight's gradient");
  expect_near(layer.bias_gradient, plain.bias_gradient, "the bias's gradient");
}

// Large enough for the kernels of few rows; lengths that fill neither vectors nor tiles.
TEST(Linear, FewRowsAgreeWithThePlainOperations) {
  for (const std::int64_t rows : {1, 2, 7, 8, 13, 32, 33}) {
    expect_agreement({.in = 512, .out = 256}, {rows, 512});
    expect_agreement({.in = 1003, .out = 131, .then = Activation::relu}, {rows, 1003});
  }
  expect_agreement({.in = 16391, .out = 5, .then = Activation::gelu}, {8, 16391});
  expect_agreement({.in = 5, .out = 16391}, {8, 5});
}

TEST(Linear, ManyRowsAndSmallWeightsAgreeWithThePlainOperations) {
  for (const Activation then : {Activation::none, Activation::relu, Activation::gelu}) {
    expect_agreement({.in = 12, .out = 7, .then = then}, {4, 12});
    expect_agreement({.in = 300, .out = 300, .then = then}, {50, 300});
    expect_agreement({.in = 16, .out = 64, .then = then}, {3, 10, 16});
  }
}

TEST(Linear, AnInputThatIsNotContiguousIsRead) {
  const LinearSpec spec{.in = 512, .out = 256};
  const at::Tensor input = filled({512, 4}, "input").t();
  expect_near(by_layer(spec, input).output, by_operations(spec, input).output, "output");
}

}  // namespace
}  // namespace lockstep::models
