#include "lockstep/base/durable.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/base/synchronised.h"

namespace lockstep::base {
namespace {

namespace fs = std::filesystem;
using testing::forget_synchronised;
using testing::synchronised;

class Durable : public ::testing::Test {
 protected:
  Durable() {
    std::string pattern = (fs::canonical(fs::temp_directory_path()) / "lockstep-durable-XXXXXX").string();
    place = ::mkdtemp(pattern.data());
    forget_synchronised();
  }
  ~Durable() override {
    std::error_code ignored;
    fs::remove_all(place, ignored);
  }
  fs::path place;
};

TEST_F(Durable, a_new_name_is_on_the_disk_with_its_directory) {
  std::ofstream(place / "draft") << "text";
  fs::create_directory(place / "other");
  EXPECT_FALSE(rename_durably(place / "draft", place / "other" / "file"));
  EXPECT_TRUE(fs::exists(place / "other" / "file"));
  EXPECT_EQ(synchronised(), std::set<fs::path>{place / "other"});
}

TEST_F(Durable, of_a_path_the_directories_that_were_new_are_on_the_disk) {
  fs::create_directory(place / "a");
  EXPECT_FALSE(make_durable_directory(place / "a" / "b" / "c"));
  EXPECT_TRUE(fs::is_directory(place / "a" / "b" / "c"));
  EXPECT_EQ(synchronised(), (std::set<fs::path>{place / "a", place / "a" / "b"}));
  forget_synchronised();
  EXPECT_FALSE(make_durable_directory(place / "a" / "b" / "c"));
  EXPECT_TRUE(synchronised().empty());
}

TEST_F(Durable, what_cannot_be_made_or_renamed_is_said) {
  std::ofstream(place / "file") << "text";
  EXPECT_TRUE(make_durable_directory(place / "file" / "inside"));
  EXPECT_TRUE(rename_durably(place / "absent", place / "file"));
  EXPECT_TRUE(synchronise_directory(place / "absent"));
}

TEST_F(Durable, a_directory_that_cannot_be_synchronised_is_no_error) {
  EXPECT_FALSE(synchronise_directory("/proc/self"));
}

TEST_F(Durable, private_files_are_their_users_alone_while_that_is_wanted) {
  const auto mode_of = [&](const char* name, bool is_private) {
    const PrivateFiles private_files(is_private);
    fs::create_directory(place / name);
    return fs::status(place / name).permissions();
  };
  const mode_t before = ::umask(0027);
  EXPECT_EQ(mode_of("own", true), fs::perms(0700));
  EXPECT_EQ(mode_of("shared", false), fs::perms(0750));
  EXPECT_EQ(::umask(before), 0027u) << "as it was";
}

}  // namespace
}  // namespace lockstep::base
