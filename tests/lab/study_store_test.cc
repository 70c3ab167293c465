// One program runs a study in a store: the lock, and what is said where it cannot be had.
#include "lockstep/lab/study_store.h"

#include "lockstep/base/error.h"
#include "tests/lab/store_fixture.h"

namespace lockstep::lab {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

class StudyLocks : public StoreTest {};

TEST_F(StudyLocks, are_refused_while_another_holds_one) {
  const StudyLock held(store, "mine");
  EXPECT_THAT([&] { StudyLock(store, "mine"); },
              ThrowsMessage<base::StoreError>(HasSubstr("being run in this store by another program")));
  EXPECT_NO_THROW(StudyLock(store, "another"));
}

TEST_F(StudyLocks, call_a_file_that_cannot_be_opened_that_and_give_the_systems_reason) {
  std::filesystem::create_directories(study_directory(store, "mine") / "lock");
  EXPECT_THAT(
      [&] { StudyLock(store, "mine"); },
      ThrowsMessage<base::StoreError>(AllOf(HasSubstr("cannot be written: Is a directory"),
                                            HasSubstr("Next step"), Not(HasSubstr("another program")))));
}

}  // namespace
}  // namespace lockstep::lab
