#include "lockstep/cli/train/live_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

record::Event step_at(double time, std::int64_t number) {
  record::StepEvent step;
  step.step = number;
  step.seconds = 0.1;
  step.loss = 0.5;
  step.exposed_seconds = 0.01;
  return {0, time, step};
}

record::RunSpec spec_of(std::int64_t epochs) {
  record::RunSpec spec;
  spec.workers = 2;
  spec.batch_size = 50;
  spec.epochs = epochs;
  return spec;
}

TEST(LiveStatus, says_epoch_step_loss_speed_exposed_share_and_time_to_go) {
  LiveStatus status(spec_of(2), 1000);
  EXPECT_EQ(status.text(), "starting");
  status.take(step_at(1, 0));
  status.take(step_at(2, 9));
  // 10 steps an epoch, 20 in all; 9 steps a second; 10 to go
  EXPECT_EQ(status.text(), "epoch 1/2  step 10/20  2s to go  loss 0.5  900/s  exposed 10 %");
}

TEST(LiveStatus, the_first_epoch_tells_how_long_one_is) {
  LiveStatus status(spec_of(3), std::nullopt);
  status.take(step_at(1, 0));
  status.take(step_at(2, 4));
  EXPECT_THAT(status.text(), AllOf(HasSubstr("epoch 1/3  step 5  "), Not(HasSubstr("to go"))));
  record::EpochEvent epoch;
  epoch.epoch = 1;
  epoch.val_accuracy = 0.9;
  status.take({0, 2, epoch});
  EXPECT_THAT(status.text(), AllOf(HasSubstr("epoch 1/3  step 5/15"), HasSubstr("val of rank 0 90.0 %")));
  status.take(step_at(3, 5));
  EXPECT_THAT(status.text(), HasSubstr("epoch 2/3  step 6/15"));
}

TEST(LiveStatus, gives_the_quality_over_all_ranks_where_it_is_known) {
  LiveStatus status(spec_of(3), 1000);
  status.take(step_at(1, 9));
  record::EpochEvent epoch;
  epoch.epoch = 1;
  epoch.val_accuracy = 0.9;
  epoch.all_ranks = record::QualityFigures{0.4, 0.85, {}};
  status.take({0, 2, epoch});
  EXPECT_THAT(status.text(), HasSubstr("  val 85.0 %"));
}

TEST(LiveStatus, a_limit_of_steps_or_of_time_shortens_the_way) {
  record::RunSpec spec = spec_of(10);
  spec.steps = 20;
  spec.max_time = record::Seconds{3};
  LiveStatus status(spec, 1000);
  status.take(step_at(0, 0));
  status.take(step_at(2, 2));
  EXPECT_THAT(status.text(), AllOf(HasSubstr("step 3/20"), HasSubstr("1s to go")));
}

TEST(LiveStatus, times_are_short) {
  EXPECT_EQ(format_time_to_go(44.2), "45s");
  EXPECT_EQ(format_time_to_go(200), "3m 20s");
  EXPECT_EQ(format_time_to_go(7500), "2h 05m");
  EXPECT_EQ(with_commas(1234567), "1,234,567");
  EXPECT_EQ(rounded_with_commas(6525.546), "6,526");
}

}  // namespace
}  // namespace lockstep::cli
