#include "lockstep/record/last_epoch.h"

#include <gtest/gtest.h>

namespace lockstep::record {
namespace {

EpochFigures epoch(std::optional<double> val_loss, bool unfinished) {
  EpochFigures epoch;
  epoch.val_loss = val_loss;
  if (unfinished) epoch.unfinished = true;
  return epoch;
}

TEST(LastEpoch, is_the_last_finished_one_that_has_the_figure) {
  const std::vector<EpochFigures> epochs{epoch(3, false), epoch(2, false), epoch({}, false), epoch(1, true)};
  EXPECT_EQ(last_figure(epochs, &EpochFigures::val_loss), 2);
}

TEST(LastEpoch, is_the_unfinished_one_where_there_is_no_other) {
  EXPECT_EQ(last_figure(std::vector{epoch(1, true)}, &EpochFigures::val_loss), 1);
  EXPECT_FALSE(last_figure({}, &EpochFigures::val_loss));
}

}  // namespace
}  // namespace lockstep::record
