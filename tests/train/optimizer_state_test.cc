// State: what is saved continues bit-equal, and what does not fit is refused by name.
#include <gtest/gtest.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "tests/train/optimizer_fixture.h"

namespace lockstep::train {
namespace {

std::vector<parallel::Updatable> copy_of(const std::vector<parallel::Updatable>& list) {
  std::vector<parallel::Updatable> copy;
  for (const parallel::Updatable& one : list) copy.push_back({one.name, one.value.clone(), at::Tensor()});
  return copy;
}

std::vector<models::NamedTensor> saved(const Optimizer& optimizer) {
  std::vector<models::NamedTensor> state = optimizer.state();
  for (models::NamedTensor& one : state) one.tensor = one.tensor.clone().contiguous();
  return state;
}

TEST(OptimizerState, ARunThatWasSavedAndLoadedContinuesBitEqual) {
  for (const record::RunSpec& spec : all_rules()) {
    for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16}) {
      std::vector<parallel::Updatable> list = make_list(type);
      const auto optimizer = make_optimizer(spec);
      const Gradients gradients = make_gradients(list, 8);
      run_steps(*optimizer, list, gradients, 0, 4);
      std::vector<parallel::Updatable> resumed = copy_of(list);
      const auto other = make_optimizer(spec);
      other->load_state(resumed, saved(*optimizer));
      run_steps(*optimizer, list, gradients, 4, 8);
      run_steps(*other, resumed, gradients, 4, 8);
      for (std::size_t i = 0; i < list.size(); ++i) {
        EXPECT_TRUE(same_bits(list[i].value, resumed[i].value)) << text_of(spec) << ", tensor " << i;
      }
    }
  }
}

TEST(OptimizerState, StateInChannelsLastSurvivesBeingSavedInPlainOrder) {
  std::vector<parallel::Updatable> list = {
      {"w", noise({8, 5, 3, 3}, 1, at::kFloat).contiguous(at::MemoryFormat::ChannelsLast), at::Tensor()}};
  const auto optimizer = make_optimizer(rule("adam"));
  const Gradients gradients = make_gradients(list, 6);
  run_steps(*optimizer, list, gradients, 0, 3);
  std::vector<parallel::Updatable> resumed = copy_of(list);
  const auto other = make_optimizer(rule("adam"));
  other->load_state(resumed, saved(*optimizer));
  run_steps(*optimizer, list, gradients, 3, 6);
  run_steps(*other, resumed, gradients, 3, 6);
  EXPECT_TRUE(same_bits(list[0].value, resumed[0].value));
}

std::vector<std::string> names_of(const Optimizer& optimizer) {
  std::vector<std::string> names;
  for (const models::NamedTensor& one : optimizer.state()) names.push_back(one.name);
  return names;
}

std::vector<std::string> names_after_a_step(const record::RunSpec& spec, at::ScalarType type) {
  std::vector<parallel::Updatable> list = {{"conv.weight", at::ones({2}, type), at::ones({2}, type)}};
  const auto optimizer = make_optimizer(spec);
  optimizer->step(list, 0.1);
  return names_of(*optimizer);
}

TEST(OptimizerState, IsNamedByKindAndParameter) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_after_a_step(rule("sgd", 0), at::kFloat), (Names{"steps"}));
  EXPECT_EQ(names_after_a_step(rule("sgd"), at::kFloat), (Names{"momentum.conv.weight", "steps"}));
  EXPECT_EQ(names_after_a_step(rule("adamw"), at::kBFloat16),
            (Names{"exp_avg.conv.weight", "exp_avg_sq.conv.weight", "master.conv.weight", "steps"}));
}

TEST(OptimizerState, BeforeTheFirstStepThereIsNothingToLoad) {
  std::vector<parallel::Updatable> list = make_list(at::kFloat);
  const auto fresh = make_optimizer(rule("adam")), other = make_optimizer(rule("adam"));
  EXPECT_NO_THROW(other->load_state(list, fresh->state()));
}

std::string fault_of_loading(const record::RunSpec& spec, const std::vector<models::NamedTensor>& state) {
  std::vector<parallel::Updatable> list = make_list(at::kFloat);
  try {
    make_optimizer(spec)->load_state(list, state);
  } catch (const base::DataError& error) {
    return error.what();
  }
  return "";
}

TEST(OptimizerState, WhatIsMissingOrOfAnotherShapeIsNamed) {
  std::vector<parallel::Updatable> list = make_list(at::kFloat);
  const auto optimizer = make_optimizer(rule("sgd"));
  run_steps(*optimizer, list, make_gradients(list, 1), 0, 1);
  std::vector<models::NamedTensor> state = optimizer->state();
  EXPECT_EQ(fault_of_loading(rule("sgd"), state), "");
  EXPECT_NE(fault_of_loading(rule("adam"), state).find("exp_avg.p0 is missing"), std::string::npos);
  state[1].tensor = at::zeros({99});
  EXPECT_NE(fault_of_loading(rule("sgd"), state).find("momentum.p1 has another shape"), std::string::npos);
  state.pop_back();
  EXPECT_NE(fault_of_loading(rule("sgd"), state).find("'steps'"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::train
