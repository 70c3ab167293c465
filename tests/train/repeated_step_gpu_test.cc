// Work that a GPU repeats by itself, and the times in it.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "lockstep/train/repeated_step.h"

namespace lockstep::train {
namespace {

class RepeatedStepOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!at::hasCUDA()) GTEST_SKIP() << "this libtorch finds no GPU";
    compute_ = parallel::compute_queue(at::Device(at::kCUDA, 0));
    compute_->use_here();
    timer_ = compute_->step_timer(nullptr);
    spec_.strategy = "single";
    spec_.device = "cuda";
    spec_.graph = "on";
  }

  std::unique_ptr<parallel::ComputeQueue> compute_;
  std::unique_ptr<measure::StepTimer> timer_;
  record::RunSpec spec_;
  std::vector<std::string> warnings_;
  std::function<void(const std::string&)> warn_ = [this](const std::string& text) {
    warnings_.push_back(text);
  };
};

TEST_F(RepeatedStepOnGpu, ComputesEveryStepOnce) {
  RepeatedStep step({spec_, *compute_, *timer_, warn_});
  at::Tensor sum = at::zeros({1000}, at::TensorOptions().device(at::kCUDA));
  int calls = 0;
  for (int i = 0; i < 20; ++i) {
    const std::int64_t samples = i == 15 ? 3 : 8;  // an odd one among them
    const at::Tensor result = step.run({samples, samples}, [&] {
      ++calls;
      const at::Tensor more = at::full({1000}, static_cast<double>(samples), sum.options());
      return sum.add_(more).sum();
    });
    compute_->synchronise();
    EXPECT_EQ(result.item<double>(), sum.sum().item<double>()) << i;
  }
  EXPECT_EQ(sum[0].item<double>(), 19 * 8 + 3);
  EXPECT_EQ(calls, 5);  // three at first, the recording, and the odd one
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(RepeatedStepOnGpu, GoesOnWithoutWhereWorkCannotBeRecorded) {
  RepeatedStep step({spec_, *compute_, *timer_, warn_});
  at::Tensor value = at::ones({1}, at::TensorOptions().device(at::kCUDA));
  for (int i = 0; i < 6; ++i) step.run({8, 8}, [&] { return value.mul_(value.item<float>() + 1); });
  EXPECT_EQ(warnings_.size(), 1U);
  EXPECT_GT(value.item<float>(), 1e6F);
}

TEST_F(RepeatedStepOnGpu, KnowsTheSpansOfRepeatedSteps) {
  RepeatedStep step({spec_, *compute_, *timer_, warn_});
  at::Tensor value = at::ones({4096, 4096}, at::TensorOptions().device(at::kCUDA));
  timer_->begin_step(0);
  std::vector<measure::StepSplit> splits;
  for (int i = 0; i < 40; ++i) {
    step.run({8, 8}, [&] {
      {
        const measure::SpanScope span(*timer_, measure::Span::forward);
        value.mul_(1.0001);
      }
      const measure::SpanScope span(*timer_, measure::Span::backward);
      return value.mul_(0.9999).add_(0.0001).sum();
    });
    timer_->end_step();
    for (const measure::StepSplit& split : timer_->take()) splits.push_back(split);
  }
  for (const measure::StepSplit& split : timer_->take(true)) splits.push_back(split);
  ASSERT_EQ(splits.size(), 40U);
  int divided = 0;
  for (const measure::StepSplit& split : splits) {
    EXPECT_GT(split.total.count(), 0);
    if (!split.divided || split.step < 6) continue;
    ++divided;
    EXPECT_GT(split.spans[static_cast<int>(measure::Span::forward)].count(), 0) << split.step;
    EXPECT_GT(split.spans[static_cast<int>(measure::Span::backward)].count(),
              split.spans[static_cast<int>(measure::Span::forward)].count());
    EXPECT_LE(split.spans[static_cast<int>(measure::Span::forward)] +
                  split.spans[static_cast<int>(measure::Span::backward)],
              split.total);
  }
  EXPECT_GT(divided, 0);
}

}  // namespace
}  // namespace lockstep::train
