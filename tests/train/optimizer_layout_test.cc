// What an element becomes must not depend on where it lies: memory order, cuts, threads.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "tests/train/optimizer_fixture.h"

namespace lockstep::train {
namespace {

constexpr std::int64_t kSteps = 3;
const std::vector<at::ScalarType> kTypes = {at::kFloat, at::kDouble, at::kBFloat16};

struct ThreadCount {
  explicit ThreadCount(int threads) : before(at::get_num_threads()) { at::set_num_threads(threads); }
  ~ThreadCount() { at::set_num_threads(before); }
  int before;
};

std::vector<at::Tensor> trained_with_threads(const record::RunSpec& spec, at::ScalarType type,
                                             const Gradients& gradients, int threads) {
  const ThreadCount count(threads);
  std::vector<parallel::Updatable> list = make_list(type);
  run_steps(*make_optimizer(spec), list, gradients, 0, kSteps);
  std::vector<at::Tensor> values;
  for (const parallel::Updatable& one : list) values.push_back(one.value);
  return values;
}

TEST(OptimizerLayout, ThreadsDoNotChangeABit) {
  for (const at::ScalarType type : kTypes) {
    const Gradients gradients = make_gradients(make_list(type), kSteps);
    for (const record::RunSpec& spec : all_rules()) {
      const auto alone = trained_with_threads(spec, type, gradients, 1);
      for (const int threads : {2}) {
        const auto together = trained_with_threads(spec, type, gradients, threads);
        for (std::size_t i = 0; i < alone.size(); ++i) {
          EXPECT_TRUE(same_bits(alone[i], together[i])) << text_of(spec) << ", " << threads << " threads";
        }
      }
    }
  }
}

// The whole tensor, and the same tensor as parts that begin anywhere.
void expect_cuts_do_not_matter(const record::RunSpec& spec, at::ScalarType type,
                               const std::vector<std::int64_t>& cuts) {
  const std::int64_t count = cuts.back();
  at::Tensor whole = noise({count}, 1, type), shared = whole.clone();
  const auto one = make_optimizer(spec), other = make_optimizer(spec);
  for (std::int64_t step = 0; step < kSteps; ++step) {
    const at::Tensor gradient = noise({count}, 10 + step, type);
    const std::vector<parallel::Updatable> uncut = {{"w", whole, gradient}};
    std::vector<parallel::Updatable> parts;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      parts.push_back({"w" + std::to_string(i), shared.narrow(0, cuts[i], cuts[i + 1] - cuts[i]),
                       gradient.narrow(0, cuts[i], cuts[i + 1] - cuts[i])});
    }
    one->step(uncut, 0.01);
    other->step(parts, 0.01);
  }
  EXPECT_TRUE(same_bits(whole, shared)) << text_of(spec);
}

TEST(OptimizerLayout, CutsDoNotChangeABit) {
  for (const record::RunSpec& spec : all_rules()) {
    for (const at::ScalarType type : kTypes) {
      expect_cuts_do_not_matter(spec, type, {0, 1, 2, 5, 12, 29, 100, 131, 1000, 8191, 8193, 50001});
    }
  }
}

TEST(OptimizerLayout, ChannelsLastGivesTheSameBits) {
  for (const record::RunSpec& spec : all_rules()) {
    at::Tensor plain = noise({8, 5, 3, 3}, 1, at::kFloat);
    at::Tensor last = plain.clone(at::MemoryFormat::ChannelsLast);
    const auto one = make_optimizer(spec), other = make_optimizer(spec);
    for (std::int64_t step = 0; step < kSteps; ++step) {
      const at::Tensor gradient = noise({8, 5, 3, 3}, 10 + step, at::kFloat);
      one->step(std::vector<parallel::Updatable>{{"w", plain, gradient}}, 0.01);
      other->step(
          std::vector<parallel::Updatable>{{"w", last, gradient.contiguous(at::MemoryFormat::ChannelsLast)}},
          0.01);
    }
    EXPECT_TRUE(last.is_contiguous(at::MemoryFormat::ChannelsLast));
    EXPECT_TRUE(same_bits(plain, last)) << text_of(spec);
  }
}

TEST(OptimizerLayout, AGradientInAnotherMemoryOrderIsPutInOrder) {
  at::Tensor value = at::zeros({4, 3, 2, 2});
  const at::Tensor gradient = noise({4, 3, 2, 2}, 1, at::kFloat);
  const std::vector<parallel::Updatable> list = {
      {"w", value, gradient.contiguous(at::MemoryFormat::ChannelsLast)}};
  make_optimizer(rule("sgd", 0))->step(list, 1);
  EXPECT_TRUE(same_bits(value, gradient.neg()));
}

TEST(OptimizerLayout, AValueWithHolesIsRefusedByName) {
  const at::Tensor strided = at::zeros({4, 4}).narrow(1, 0, 2);
  const std::vector<parallel::Updatable> list = {{"holes", strided, at::zeros({4, 2})}};
  try {
    make_optimizer(rule("sgd"))->step(list, 1);
    FAIL() << "it was taken";
  } catch (const base::ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("holes"), std::string::npos) << error.what();
  }
}

TEST(OptimizerLayout, AGradientOfAnotherShapeIsRefused) {
  const std::vector<parallel::Updatable> list = {{"w", at::zeros({4}), at::zeros({2})}};
  EXPECT_THROW(make_optimizer(rule("sgd"))->step(list, 1), base::ConfigError);
}

}  // namespace
}  // namespace lockstep::train
