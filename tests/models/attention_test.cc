// The fused attention against the same arithmetic in f64 by tensor operations.
#include <gtest/gtest.h>

#include "lockstep/models/kernels/attention.h"
#include "tests/models/models_fixture.h"

namespace lockstep::models {
namespace {

struct Shape {
  std::int64_t batch, tokens, width, heads;
};

at::Tensor values(at::IntArrayRef sizes, const char* name, double bound) {
  at::Tensor made = at::empty(sizes, at::TensorOptions().dtype(at::kFloat));
  fill(made, Init::uniform(bound), 3, name);
  return made;
}

double difference(const at::Tensor& one, const at::Tensor& other) {
  return (one.to(at::kDouble) - other.to(at::kDouble)).abs().max().item<double>();
}

void expect_agreement(const Shape& shape, double bound) {
  StandardLayers single({.dtype = at::kFloat}), wide({.dtype = at::kDouble});
  const auto fused = single.head_attention({.width = shape.width, .heads = shape.heads});
  const auto exact = wide.head_attention({.width = shape.width, .heads = shape.heads});
  initialise(*fused, 5);
  initialise(*exact, 5);
  at::Tensor x = values({shape.batch, shape.tokens, shape.width}, "x", bound);
  at::Tensor y = x.to(at::kDouble);
  x.set_requires_grad(true), y.set_requires_grad(true);
  const at::Tensor weights = values(x.sizes(), "weights", 1.0);
  Runner runner;
  const at::Tensor out = runner.run(*fused, x), expected = runner.run(*exact, y);
  EXPECT_LT(difference(out, expected), 1e-5 * bound);
  runner.backward((out * weights).sum());
  runner.backward((expected * weights).sum());
  EXPECT_LT(difference(x.grad(), y.grad()), 2e-5 * bound);
  for (std::size_t i = 0; i < fused->own_parameters().size(); ++i) {
    const auto& parameter = fused->own_parameters()[i];
    const at::Tensor goal = exact->own_parameters()[i].value.grad();
    EXPECT_LT(difference(parameter.value.grad(), goal),
              1e-5 * bound * (1.0 + goal.abs().max().item<double>()))
        << parameter.name;
  }
}

TEST(Attention, TheFusedKernelAgreesWithF64) {
  expect_agreement({2, 50, 16, 4}, 1.0);
  expect_agreement({3, 65, 24, 2}, 1.0);
  expect_agreement({1, 1, 8, 8}, 1.0);
  expect_agreement({2, 17, 6, 3}, 1.0);
}

TEST(Attention, LargeScoresNeitherOverflowNorVanish) {
  expect_agreement({2, 20, 8, 2}, 30.0);
}

}  // namespace
}  // namespace lockstep::models
