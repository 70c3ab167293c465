#include "lockstep/lab/run_directory.h"

#include <chrono>
#include <functional>

#include "lockstep/base/error.h"
#include "tests/base/synchronised.h"
#include "tests/lab/store_fixture.h"

namespace lockstep::lab {
namespace {

using RunDirectoryTest = StoreTest;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

std::string complaint(const std::function<void()>& action) {
  try {
    action();
  } catch (const base::Error& error) {
    return error.what();
  }
  return "";
}

TEST_F(RunDirectoryTest, keeps_the_spec_it_was_made_for) {
  record::RunSpec spec;
  spec.model = "vit";
  spec.workers = 3;
  const RunDirectory run = RunDirectory::create(store, spec);
  EXPECT_EQ(run.spec(), spec);
  EXPECT_EQ(run.path().parent_path(), runs_of(store));
  EXPECT_FALSE(run.has_record());
}

TEST_F(RunDirectoryTest, ids_are_unique_hold_the_hash_and_sort_by_time) {
  record::RunSpec spec;
  const RunDirectory first = RunDirectory::create(store, spec);
  ::usleep(2000);
  const RunDirectory second = RunDirectory::create(store, spec);
  EXPECT_LT(first.id(), second.id());
  EXPECT_THAT(first.id(), HasSubstr(record::spec_hash(spec).substr(0, 8)));
}

TEST_F(RunDirectoryTest, is_found_by_id_by_a_beginning_and_by_its_path) {
  const RunDirectory run = RunDirectory::create(store, {});
  EXPECT_EQ(RunDirectory::open(store, run.id()).path(), run.path());
  EXPECT_EQ(RunDirectory::open(store, run.id().substr(0, 20)).path(), run.path());
  EXPECT_EQ(RunDirectory::open("/nowhere", run.path().string() + "/").id(), run.id());
}

TEST_F(RunDirectoryTest, what_is_not_there_or_not_the_only_one_is_refused_with_what_there_is) {
  const RunDirectory one = RunDirectory::create(store, {});
  const RunDirectory two = RunDirectory::create(store, {});
  EXPECT_THAT(complaint([&] { RunDirectory::open(store, "1999"); }), HasSubstr("there is no run '1999'"));
  EXPECT_THAT(complaint([&] { RunDirectory::open(store, "2"); }),
              AllOf(HasSubstr("2 runs begin with"), HasSubstr(one.id()), HasSubstr(two.id())));
  EXPECT_THAT(complaint([&] { RunDirectory::open(store, ""); }), HasSubstr("there is no run"));
}

TEST_F(RunDirectoryTest, a_store_that_cannot_be_made_is_said_with_the_next_step) {
  append(store / "file", "no directory");
  EXPECT_THAT(complaint([&] { RunDirectory::create(store / "file", {}); }),
              AllOf(HasSubstr("cannot be made"), HasSubstr("LOCKSTEP_STORE")));
}

TEST_F(RunDirectoryTest, a_new_run_is_in_the_store_for_good) {
  const auto place = std::filesystem::canonical(store);
  testing::forget_synchronised();
  RunDirectory::create(place, {});
  EXPECT_THAT(testing::synchronised(), IsSupersetOf({place, runs_of(place)}));
}

TEST_F(RunDirectoryTest, what_a_killed_program_began_to_write_is_removed_by_a_later_run) {
  const RunDirectory left = draft_of(RunDirectory::create(store, {})), fresh(runs_of(store) / ".new-1");
  for (const RunDirectory& draft : {left, fresh}) {
    std::filesystem::create_directory(draft.path());
    append(draft.spec_file(), "{}");
  }
  std::filesystem::last_write_time(left.path(),
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  const RunDirectory run = RunDirectory::create(store, {});
  EXPECT_FALSE(std::filesystem::exists(left.path()));
  EXPECT_TRUE(std::filesystem::exists(fresh.path())) << "another program may be writing it";
  EXPECT_EQ(run.spec(), record::RunSpec());
}

TEST_F(RunDirectoryTest, a_damaged_spec_is_an_error_that_names_the_file) {
  const RunDirectory run = RunDirectory::create(store, {});
  std::ofstream(run.spec_file()) << "{";
  EXPECT_THAT(complaint([&] { run.spec(); }), AllOf(HasSubstr("spec.json"), HasSubstr("damaged")));
}

}  // namespace
}  // namespace lockstep::lab
