// Events of steps whose figures arrive at different times.
#include "lockstep/train/step_reporter.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace lockstep::train {
namespace {

using namespace std::chrono_literals;

measure::StepSplit split_of(std::int64_t step, base::Nanoseconds total, base::Nanoseconds forward) {
  measure::StepSplit split;
  split.step = step;
  split.total = total;
  split.spans[static_cast<std::size_t>(measure::Span::forward)] = forward;
  return split;
}

StepFacts facts_of(std::int64_t step) {
  StepFacts facts;
  facts.step = step;
  facts.samples = 32;
  return facts;
}

class StepReporterTest : public ::testing::Test {
 protected:
  StepReporterTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lockstep-steps-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    events_.emplace(directory_ / "rank0.jsonl", 0, RunClock());
    spec_.skip_steps = 1;
  }
  ~StepReporterTest() override { std::filesystem::remove_all(directory_); }

  std::vector<record::StepEvent> written() {
    events_->flush();
    std::ifstream stream(directory_ / "rank0.jsonl");
    std::vector<record::StepEvent> steps;
    for (const record::Event& event : record::read_events(stream, "events"))
      steps.push_back(std::get<record::StepEvent>(event.body));
    return steps;
  }

  std::filesystem::path directory_;
  std::optional<EventLog> events_;
  record::RunSpec spec_;
  measure::Ledger ledger_;
};

TEST_F(StepReporterTest, AnEventIsWrittenWhenItsLossAndItsSplitAreThere) {
  StepReporter reporter(spec_, ledger_, *events_);
  reporter.ended(facts_of(0));
  reporter.splits({split_of(0, 10ms, 6ms)});
  EXPECT_TRUE(written().empty());
  reporter.ended(facts_of(1));
  reporter.loss(0.5);  // of step 0
  ASSERT_EQ(written().size(), 1u);
  EXPECT_EQ(written()[0].loss, 0.5);
  EXPECT_DOUBLE_EQ(written()[0].seconds, 0.010);
  reporter.loss(0.25);
  EXPECT_EQ(written().size(), 1u) << "the split of step 1 is not known";
  reporter.splits({split_of(1, 12ms, 6ms)});
  EXPECT_EQ(written().size(), 2u);
}

TEST_F(StepReporterTest, StepsAreWrittenInOrder) {
  StepReporter reporter(spec_, ledger_, *events_);
  for (std::int64_t step = 0; step < 3; ++step) reporter.ended(facts_of(step));
  reporter.splits({split_of(1, 1ms, 1ms), split_of(2, 1ms, 1ms)});
  for (const double loss : {3.0, 2.0, 1.0}) reporter.loss(loss);
  EXPECT_TRUE(written().empty());
  reporter.splits({split_of(0, 1ms, 1ms)});
  ASSERT_EQ(written().size(), 3u);
  EXPECT_EQ(written()[2].step, 2);
  EXPECT_EQ(written()[2].loss, 1.0);
}

TEST_F(StepReporterTest, WhatNoSpanCoversIsOther) {
  StepReporter reporter(spec_, ledger_, *events_);
  for (std::int64_t step = 0; step < 3; ++step) reporter.ended(facts_of(step));
  // The first is warm-up, and counts for nothing.
  reporter.splits({split_of(0, 100ms, 0ms), split_of(1, 10ms, 9ms), split_of(2, 10ms, 10ms)});
  ASSERT_TRUE(reporter.share_of_other().has_value());
  EXPECT_NEAR(*reporter.share_of_other(), 0.05, 1e-12);
  for (const double loss : {3.0, 2.0, 1.0}) reporter.loss(loss);
  EXPECT_NEAR(written()[1].split_seconds->other.value(), 0.001, 1e-12);
  EXPECT_TRUE(written()[0].warmup.value());
}

TEST_F(StepReporterTest, WhatAStepCommunicatedIsTheDifferenceOfTheLedgersTotals) {
  measure::Movement movement;
  movement.busy = 7ms;
  movement.peer_wait = 2ms;
  const auto move = [&] {
    ledger_.add(measure::Purpose::gradient, measure::Collective::all_reduce, "shm", 8, movement);
  };
  move();  // before training
  StepReporter reporter(spec_, ledger_, *events_);
  for (std::int64_t step = 0; step < 2; ++step) {
    move();
    reporter.ended(facts_of(step));
    reporter.splits({split_of(step, 10ms, 1ms)});
    reporter.loss(1);
  }
  EXPECT_DOUBLE_EQ(written()[1].busy_seconds.value(), 0.007);
  EXPECT_DOUBLE_EQ(written()[1].peer_wait_seconds.value(), 0.002);
}

TEST_F(StepReporterTest, WhatIsSentBetweenStepsIsNoSteps) {
  measure::Movement movement;
  movement.busy = 7ms;
  const auto move = [&](measure::Purpose purpose) {
    ledger_.add(purpose, measure::Collective::all_reduce, "shm", 8, movement);
  };
  StepReporter reporter(spec_, ledger_, *events_);
  for (std::int64_t step = 0; step < 2; ++step) {
    reporter.begin_anew();
    move(measure::Purpose::gradient);
    reporter.ended(facts_of(step));
    move(measure::Purpose::metric);  // an epoch's end
    reporter.splits({split_of(step, 10ms, 1ms)});
    reporter.loss(1);
  }
  for (const record::StepEvent& event : written()) EXPECT_DOUBLE_EQ(event.busy_seconds.value(), 0.007);
}

TEST_F(StepReporterTest, AStepInWhichMeasuringRestedLeavesNothingToTheNext) {
  measure::Movement movement;
  movement.busy = 7ms;
  StepReporter reporter(spec_, ledger_, *events_, 1);
  for (std::int64_t step = 0; step < 4; ++step) {
    ledger_.add(measure::Purpose::gradient, measure::Collective::all_reduce, "shm", 8, movement);
    reporter.ended(facts_of(step));
    reporter.splits({split_of(step, 10ms, 1ms)});
    reporter.loss(1);
  }
  int measured = 0;
  for (const record::StepEvent& event : written()) {
    if (!event.busy_seconds) continue;
    EXPECT_DOUBLE_EQ(*event.busy_seconds, 0.007);
    ++measured;
  }
  EXPECT_EQ(measured, 2);
}

TEST_F(StepReporterTest, APeerWaitThatNobodyKnowsIsLeftOut) {
  measure::Movement movement;
  movement.busy = 7ms;
  movement.peer_wait_known = false;
  StepReporter reporter(spec_, ledger_, *events_);
  for (std::int64_t step = 0; step < 2; ++step) {
    if (step == 0)
      ledger_.add(measure::Purpose::gradient, measure::Collective::all_reduce, "nccl", 8, movement);
    reporter.ended(facts_of(step));
    reporter.splits({split_of(step, 10ms, 1ms)});
    reporter.loss(1);
  }
  EXPECT_FALSE(written()[0].peer_wait_seconds.has_value());
  EXPECT_TRUE(written()[0].busy_seconds.has_value());
  EXPECT_TRUE(written()[1].peer_wait_seconds.has_value());
}

TEST_F(StepReporterTest, WithoutMeasuringThereIsOnlyTheStepsLength) {
  spec_.measure = false;
  StepReporter reporter(spec_, ledger_, *events_);
  reporter.ended(facts_of(0));
  reporter.splits({split_of(0, 10ms, 0ms)});
  reporter.loss(1);
  ASSERT_EQ(written().size(), 1u);
  EXPECT_FALSE(written()[0].split_seconds.has_value());
  EXPECT_FALSE(written()[0].busy_seconds.has_value());
  EXPECT_FALSE(reporter.share_of_other().has_value());
}

TEST_F(StepReporterTest, OfANegotiationInTheBackgroundOnlyWhatTheStepWaitedForCounts) {
  const auto add = [this](measure::Purpose purpose, base::Nanoseconds busy, base::Nanoseconds peer_wait) {
    ledger_.add(purpose, measure::Collective::all_reduce, "shm", 8, {.busy = busy, .peer_wait = peer_wait});
  };
  add(measure::Purpose::control, 7ms, 7ms);  // before the first step
  StepReporter reporter(spec_, ledger_, *events_);
  add(measure::Purpose::gradient, 3ms, 1ms);
  add(measure::Purpose::control, 40ms, 39ms);
  StepFacts facts = facts_of(0);
  facts.waited_for_control = parallel::ControlTime{20ms, 19ms};
  reporter.ended(facts);
  reporter.splits({split_of(0, 50ms, 6ms)});
  reporter.loss(1.0);
  EXPECT_NEAR(written().at(0).busy_seconds.value(), 0.023, 1e-9);
  EXPECT_NEAR(written().at(0).peer_wait_seconds.value(), 0.020, 1e-9);
}

}  // namespace
}  // namespace lockstep::train
