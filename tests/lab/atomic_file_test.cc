#include "lockstep/lab/atomic_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include "lockstep/base/error.h"
#include "tests/base/synchronised.h"
#include "tests/lab/store_fixture.h"

namespace lockstep::lab {
namespace {

using AtomicFile = StoreTest;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string refusal(const std::filesystem::path& file) {
  try {
    write_atomically(file, "text");
  } catch (const base::StoreError& error) {
    return error.what();
  }
  return "";
}

TEST_F(AtomicFile, replaces_a_file_whole_and_leaves_nothing_beside_it) {
  write_atomically(store / "file", "first");
  write_atomically(store / "file", "second");
  EXPECT_EQ(read_whole(store / "file"), "second");
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(store)) ++files;
  EXPECT_EQ(files, 1);
}

TEST_F(AtomicFile, its_name_is_on_the_disk_with_what_is_in_it) {
  const auto place = std::filesystem::canonical(store);
  testing::forget_synchronised();
  write_atomically(place / "file", "text");
  EXPECT_THAT(testing::synchronised(), Contains(place));
  EXPECT_THAT(testing::synchronised(), SizeIs(2)) << "the file, under its earlier name";
}

TEST_F(AtomicFile, a_directory_that_is_not_there_is_said_with_the_next_step) {
  EXPECT_THAT(refusal(store / "absent" / "file"), AllOf(HasSubstr("No such file"), HasSubstr("--store DIR")));
}

TEST_F(AtomicFile, a_full_disk_names_space_and_a_wall_names_permission) {
  EXPECT_THAT(store_next_step(ENOSPC, store / "file"), HasSubstr("free space"));
  EXPECT_THAT(store_next_step(EACCES, store / "file"), HasSubstr("make " + store.string() + " writable"));
}

TEST_F(AtomicFile, reading_what_is_not_there_is_a_store_error) {
  EXPECT_THROW(read_whole(store / "absent"), base::StoreError);
}

}  // namespace
}  // namespace lockstep::lab
