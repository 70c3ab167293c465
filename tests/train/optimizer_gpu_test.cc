// The update rules on a GPU against those on the CPU, which are checked against their definition.
#include <gtest/gtest.h>

#include "tests/train/optimizer_fixture.h"

namespace lockstep::train {
namespace {

constexpr std::int64_t kSteps = 20;

std::vector<parallel::Updatable> on_gpu(const std::vector<parallel::Updatable>& list) {
  std::vector<parallel::Updatable> moved;
  for (const parallel::Updatable& one : list)
    moved.push_back({one.name, one.value.to(at::kCUDA), at::Tensor()});
  return moved;
}

Gradients on_gpu(Gradients gradients) {
  for (auto& step : gradients) {
    for (at::Tensor& gradient : step) gradient = gradient.to(at::kCUDA);
  }
  return gradients;
}

void expect_same_updates(at::ScalarType type, double tolerance) {
  const Gradients gradients = make_gradients(make_list(type), kSteps), moved = on_gpu(gradients);
  for (const record::RunSpec& spec : all_rules()) {
    std::vector<parallel::Updatable> host = make_list(type), device = on_gpu(make_list(type));
    run_steps(*make_optimizer(spec), host, gradients, 0, kSteps);
    run_steps(*make_optimizer(spec), device, moved, 0, kSteps);
    for (std::size_t i = 0; i < host.size(); ++i) {
      EXPECT_LE(largest_difference(host[i].value, device[i].value.cpu()), tolerance)
          << text_of(spec) << ", " << i;
    }
  }
}

class OptimizerOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!at::hasCUDA()) GTEST_SKIP() << "this libtorch finds no GPU";
  }
};

TEST_F(OptimizerOnGpu, UpdatesAsOnTheCpu) {
  expect_same_updates(at::kDouble, 1e-12);
  expect_same_updates(at::kFloat, 2e-5);
  expect_same_updates(at::kBFloat16, 0.04);  // a last bit of what is rounded, of weights up to 4
}

TEST_F(OptimizerOnGpu, ContinuesBitEqualFromItsState) {
  for (const record::RunSpec& spec : all_rules()) {
    std::vector<parallel::Updatable> list = on_gpu(make_list(at::kFloat));
    const Gradients gradients = on_gpu(make_gradients(make_list(at::kFloat), 6));
    const auto optimizer = make_optimizer(spec), other = make_optimizer(spec);
    run_steps(*optimizer, list, gradients, 0, 3);
    std::vector<models::NamedTensor> state;
    for (const auto& one : optimizer->state()) state.push_back({one.name, one.tensor.cpu().clone()});
    std::vector<parallel::Updatable> resumed;
    for (const auto& one : list) resumed.push_back({one.name, one.value.clone(), at::Tensor()});
    other->load_state(resumed, state);
    run_steps(*optimizer, list, gradients, 3, 6);
    run_steps(*other, resumed, gradients, 3, 6);
    for (std::size_t i = 0; i < list.size(); ++i) EXPECT_TRUE(same_bits(list[i].value, resumed[i].value));
  }
}

TEST_F(OptimizerOnGpu, NormsAndScalesGradients) {
  std::vector<parallel::Updatable> host = make_list(at::kFloat), device = on_gpu(host);
  const Gradients gradients = make_gradients(host, 1);
  set_gradients(host, gradients[0]);
  set_gradients(device, on_gpu(gradients)[0]);
  const double expected = square_norm(host);
  EXPECT_NEAR(square_norm(device), expected, 1e-9 * expected);
  scale_gradients(device, 0.5);
  EXPECT_NEAR(square_norm(device), expected / 4, 1e-9 * expected);
}

}  // namespace
}  // namespace lockstep::train
