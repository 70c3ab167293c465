// Which limit a finished run's record tells of.
#include "lockstep/cli/train/limit_reached.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep::cli {
namespace {

record::RunRecord finished(const nlohmann::json& spec, std::int64_t steps, std::int64_t epochs) {
  record::RunRecord record;
  record.status = "finished";
  record.spec = spec;
  record.steps.count = steps;
  for (std::int64_t epoch = 1; epoch <= epochs; ++epoch) record.epochs.emplace_back().epoch = epoch;
  return record;
}

TEST(LimitReached, is_the_one_whose_count_is_full) {
  EXPECT_EQ(limit_reached(finished({{"epochs", 2}, {"max_time", 600}}, 40, 2)), "epochs 2");
  EXPECT_EQ(limit_reached(finished({{"steps", 30}, {"max_time", 600}}, 30, 1)), "steps 30");
  EXPECT_EQ(limit_reached(finished({{"steps", 30}, {"epochs", 9}}, 30, 1)), "steps 30");
}

TEST(LimitReached, is_the_time_where_no_count_is_full) {
  EXPECT_EQ(limit_reached(finished({{"epochs", 2}, {"max_time", 3}}, 40, 1)), "max_time 3 s");
  EXPECT_EQ(limit_reached(finished({{"steps", 30}, {"max_time", 3}}, 29, 0)), "max_time 3 s");
}

TEST(LimitReached, of_a_resumed_run_says_that_earlier_time_counts) {
  EXPECT_EQ(limit_reached(finished({{"max_time", 3}, {"resume", "runs/a"}}, 3, 0)),
            "max_time 3 s, the time of the training that was resumed included");
}

TEST(LimitReached, is_the_target_once_that_is_reached) {
  record::RunRecord record = finished({{"target_val_loss", 0.5}, {"epochs", 9}}, 40, 2);
  record.target = record::TargetFigures{"val_loss", 0.5, 2, 1};
  EXPECT_EQ(limit_reached(record), "target val_loss 0.5");
}

TEST(LimitReached, is_not_said_of_a_run_that_did_not_finish) {
  record::RunRecord record = finished({{"steps", 30}}, 30, 1);
  record.status = "interrupted";
  EXPECT_EQ(limit_reached(record), "");
}

}  // namespace
}  // namespace lockstep::cli
