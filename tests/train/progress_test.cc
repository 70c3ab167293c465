#include "lockstep/train/progress.h"

#include <gtest/gtest.h>

#include "lockstep/base/error.h"

namespace lockstep::train {
namespace {

TEST(Progress, SurvivesJsonBitForBit) {
  Progress progress;
  progress.steps_done = 123;
  progress.next = {4, 7};
  progress.epoch_so_far.samples = 99;
  progress.epoch_so_far.loss_sum = 0.1 + 0.2;
  progress.epoch_so_far.correct = 42;
  progress.epoch_so_far.task = record::Task::classification;
  progress.train_seconds = 1.0 / 3;
  const Progress back = progress_from_json(nlohmann::json::parse(to_json(progress).dump()));
  EXPECT_EQ(back.steps_done, 123);
  EXPECT_EQ(back.next.epoch, 4u);
  EXPECT_EQ(back.next.step, 7u);
  EXPECT_EQ(back.epoch_so_far.loss_sum, progress.epoch_so_far.loss_sum);
  EXPECT_EQ(back.epoch_so_far.correct, 42);
  EXPECT_EQ(back.train_seconds, progress.train_seconds);
}

TEST(Progress, ThatLacksAFieldIsRefused) {
  nlohmann::json json = to_json(Progress{});
  json.erase("epoch");
  EXPECT_THROW(progress_from_json(json), base::DataError);
  EXPECT_THROW(progress_from_json(nlohmann::json::array()), base::DataError);
}

}  // namespace
}  // namespace lockstep::train
