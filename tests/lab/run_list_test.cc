#include "lockstep/lab/run_list.h"

#include "lockstep/lab/conclude.h"
#include "tests/lab/store_fixture.h"

namespace lockstep::lab {
namespace {

using RunList = StoreTest;

TEST_F(RunList, a_store_that_does_not_exist_holds_nothing) {
  EXPECT_TRUE(list_runs(store / "absent").empty());
}

TEST_F(RunList, shows_runs_in_the_order_of_time_with_and_without_a_record) {
  const RunDirectory first = RunDirectory::create(store, {});
  ::usleep(2000);
  const RunDirectory second = RunDirectory::create(store, {});
  std::filesystem::create_directory(runs_of(store) / "something else");
  add_rank(first, 0, 1);
  conclude(first, {});
  const std::vector<ListedRun> runs = list_runs(store);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].directory.id(), first.id());
  EXPECT_EQ(runs[0].record->status, "finished");
  EXPECT_FALSE(runs[1].record);
}

TEST_F(RunList, a_damaged_record_is_listed_with_its_damage) {
  const RunDirectory run = RunDirectory::create(store, {});
  append(run.record_file(), "{");
  EXPECT_NE(list_runs(store).at(0).damage, "");
}

}  // namespace
}  // namespace lockstep::lab
