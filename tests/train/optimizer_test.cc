// Update rules against their definition, written out in f64, and against libtorch's own optimisers.
#include <gtest/gtest.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <cmath>

#include "lockstep/base/error.h"
#include "lockstep/measure/memory_account.h"
#include "tests/train/optimizer_fixture.h"

namespace lockstep::train {
namespace {

constexpr std::size_t kSteps = 20;

// One number under a rule, in f64.
struct Scalar {
  double weight, first = 0, second = 0;

  void sgd(const record::RunSpec& spec, double gradient, double rate, bool at_first) {
    const double slope = gradient + spec.weight_decay * weight;
    if (spec.momentum == 0) {
      weight -= rate * slope;
      return;
    }
    first = at_first ? slope : spec.momentum * first + slope;
    weight -= rate * (spec.nesterov ? slope + spec.momentum * first : first);
  }
  void adam(const record::RunSpec& spec, double gradient, double rate, double t) {
    if (spec.optimizer == "adamw") weight -= rate * spec.weight_decay * weight;
    const double slope = spec.optimizer == "adam" ? gradient + spec.weight_decay * weight : gradient;
    first = spec.beta1 * first + (1 - spec.beta1) * slope;
    second = spec.beta2 * second + (1 - spec.beta2) * slope * slope;
    const double first_hat = first / (1 - std::pow(spec.beta1, t));
    const double second_hat = second / (1 - std::pow(spec.beta2, t));
    weight -= rate * first_hat / (std::sqrt(second_hat) + spec.epsilon);
  }
};

// Where element `at` of tensor `index` ends up.
double expected(const record::RunSpec& spec, const at::Tensor& initial, const Gradients& gradients,
                std::size_t index, std::int64_t at) {
  Scalar scalar{initial.flatten()[at].item<double>()};
  for (std::size_t step = 0; step < gradients.size(); ++step) {
    const double gradient = gradients[step][index].flatten()[at].item<double>();
    if (spec.optimizer == "sgd") {
      scalar.sgd(spec, gradient, rate_of(step), step == 0);
    } else {
      scalar.adam(spec, gradient, rate_of(step), static_cast<double>(step + 1));
    }
  }
  return scalar.weight;
}

// Ends, and a few between.
std::vector<std::int64_t> places(std::int64_t count) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(count, 5); ++i) all.push_back(i * (count - 1) / 4);
  return all;
}

void expect_definition(const record::RunSpec& spec, at::ScalarType type, const Gradients& gradients,
                       double tolerance) {
  const std::vector<parallel::Updatable> initial = make_list(type);
  std::vector<parallel::Updatable> list = make_list(type);
  const auto optimizer = make_optimizer(spec);
  run_steps(*optimizer, list, gradients, 0, kSteps);
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (const std::int64_t at : places(list[i].value.numel())) {
      EXPECT_NEAR(list[i].value.flatten()[at].item<double>(),
                  expected(spec, initial[i].value, gradients, i, at), tolerance)
          << text_of(spec) << ", tensor " << i << ", element " << at;
    }
  }
}

TEST(Optimizer, FollowsTheDefinitionOfEveryRuleInF64) {
  const Gradients gradients = make_gradients(make_list(at::kDouble), kSteps);
  for (const record::RunSpec& spec : all_rules()) expect_definition(spec, at::kDouble, gradients, 1e-12);
}

TEST(Optimizer, FollowsTheDefinitionOfEveryRuleInF32ToItsRounding) {
  const Gradients gradients = make_gradients(make_list(at::kFloat), kSteps);
  for (const record::RunSpec& spec : all_rules()) expect_definition(spec, at::kFloat, gradients, 2e-5);
}

template <class Rule, class Options>
std::unique_ptr<torch::optim::Optimizer> torch_rule(std::vector<at::Tensor> weights, Options options) {
  return std::make_unique<Rule>(std::move(weights), options);
}

std::unique_ptr<torch::optim::Optimizer> torch_optimizer(const record::RunSpec& spec,
                                                         const std::vector<at::Tensor>& weights) {
  using namespace torch::optim;
  if (spec.optimizer == "sgd") {
    return torch_rule<SGD>(
        weights,
        SGDOptions(1).momentum(spec.momentum).weight_decay(spec.weight_decay).nesterov(spec.nesterov));
  }
  const std::tuple<double, double> betas(spec.beta1, spec.beta2);
  if (spec.optimizer == "adam") {
    return torch_rule<Adam>(weights,
                            AdamOptions(1).betas(betas).eps(spec.epsilon).weight_decay(spec.weight_decay));
  }
  return torch_rule<AdamW>(weights,
                           AdamWOptions(1).betas(betas).eps(spec.epsilon).weight_decay(spec.weight_decay));
}

void set_rate(torch::optim::Optimizer& optimizer, double rate) {
  for (auto& group : optimizer.param_groups()) group.options().set_lr(rate);
}

std::vector<at::Tensor> trained_by_torch(const record::RunSpec& spec, at::ScalarType type,
                                         const Gradients& gradients) {
  std::vector<at::Tensor> weights;
  for (const parallel::Updatable& one : make_list(type))
    weights.push_back(one.value.clone().requires_grad_());
  const auto optimizer = torch_optimizer(spec, weights);
  for (std::size_t step = 0; step < kSteps; ++step) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i].mutable_grad() = gradients[step][i];
    }
    set_rate(*optimizer, rate_of(step));
    optimizer->step();
  }
  return weights;
}

void expect_what_torch_gives(const record::RunSpec& spec, at::ScalarType type, double tolerance) {
  std::vector<parallel::Updatable> list = make_list(type);
  const Gradients gradients = make_gradients(list, kSteps);
  const auto optimizer = make_optimizer(spec);
  run_steps(*optimizer, list, gradients, 0, kSteps);
  const std::vector<at::Tensor> theirs = trained_by_torch(spec, type, gradients);
  for (std::size_t i = 0; i < list.size(); ++i) {
    EXPECT_LE(largest_difference(list[i].value, theirs[i].detach()), tolerance)
        << text_of(spec) << ", tensor " << i;
  }
}

TEST(Optimizer, GivesWhatLibtorchsOptimisersGiveOverTwentySteps) {
  for (const record::RunSpec& spec : all_rules()) {
    expect_what_torch_gives(spec, at::kDouble, 1e-13);
    expect_what_torch_gives(spec, at::kFloat, 5e-6);
  }
}

TEST(Optimizer, KeepsExactWeightsForBf16Parameters) {
  // Steps of a 4096th of a weight: bf16, which has 8 bits, would never move.
  record::RunSpec spec = rule("sgd", 0);
  std::vector<parallel::Updatable> list = {
      {"w", at::ones({100}, at::kBFloat16), at::ones({100}, at::kBFloat16)}};
  const auto optimizer = make_optimizer(spec);
  for (int i = 0; i < 1024; ++i) optimizer->step(list, 1.0 / 4096);
  EXPECT_TRUE(same_bits(list[0].value, at::full({100}, 0.75, at::kBFloat16)));
}

TEST(Optimizer, RoundsBf16WeightsAsTorchDoes) {
  for (const record::RunSpec& spec : all_rules()) {
    std::vector<parallel::Updatable> list = make_list(at::kBFloat16);
    const auto optimizer = make_optimizer(spec);
    run_steps(*optimizer, list, make_gradients(list, 3), 0, 3);
    for (const models::NamedTensor& state : optimizer->state()) {
      if (state.name != "master.p0") continue;
      EXPECT_TRUE(same_bits(list[0].value, state.tensor.to(at::kBFloat16))) << text_of(spec);
    }
  }
}

TEST(Optimizer, LeavesAValueWithoutAGradientAlone) {
  std::vector<parallel::Updatable> list = {{"w", at::ones({4}), at::Tensor()},
                                           {"v", at::ones({4}), at::ones({4})}};
  make_optimizer(rule("sgd", 0))->step(list, 0.5);
  EXPECT_TRUE(same_bits(list[0].value, at::ones({4})));
  EXPECT_TRUE(same_bits(list[1].value, at::full({4}, 0.5)));
}

TEST(Optimizer, TakesAnEmptyList) {
  for (const record::RunSpec& spec : all_rules()) EXPECT_NO_THROW(make_optimizer(spec)->step({}, 0.1));
}

TEST(Optimizer, UpdatesParametersThatRequireGradients) {
  at::Tensor weight = at::ones({3}).requires_grad_();
  const std::vector<parallel::Updatable> list = {{"w", weight, at::ones({3})}};
  make_optimizer(rule("sgd", 0))->step(list, 0.25);
  EXPECT_TRUE(same_bits(weight.detach(), at::full({3}, 0.75)));
  EXPECT_TRUE(weight.requires_grad());
}

TEST(Optimizer, RefusesTypesItCannotTrainByName) {
  const std::vector<parallel::Updatable> list = {
      {"layer.w", at::ones({3}, at::kHalf), at::ones({3}, at::kHalf)}};
  try {
    make_optimizer(rule("sgd"))->step(list, 0.1);
    FAIL() << "f16 was taken";
  } catch (const base::ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("layer.w"), std::string::npos) << error.what();
  }
}

TEST(Optimizer, RefusesAListOfAnotherLength) {
  std::vector<parallel::Updatable> list = make_list(at::kFloat);
  const auto optimizer = make_optimizer(rule("sgd"));
  run_steps(*optimizer, list, make_gradients(list, 1), 0, 1);
  list.pop_back();
  EXPECT_THROW(optimizer->step(list, 0.1), base::ConfigError);
}

TEST(Optimizer, HasAsManyTensorsOfStateAsItsRuleNeeds) {
  EXPECT_EQ(make_optimizer(rule("sgd", 0))->state_tensors(), 0);
  EXPECT_EQ(make_optimizer(rule("sgd"))->state_tensors(), 1);
  EXPECT_EQ(make_optimizer(rule("adam"))->state_tensors(), 2);
}

}  // namespace
}  // namespace lockstep::train
