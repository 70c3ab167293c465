// Where logs go, and that old ones go away.
#include "lockstep/launch/log_directory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/launch/temporary_place.h"
#include "tests/launch/temporary_directory.h"

namespace lockstep::launch {
namespace {

namespace fs = std::filesystem;

constexpr int kNobody = 0x3ffffff;  // more than any process number

fs::path make_run(const fs::path& logs, const std::string& time, int owner) {
  const fs::path run = logs / (time + "-" + std::to_string(owner));
  fs::create_directories(run);
  std::ofstream(run / "rank0.log") << "a line\n";
  return run;
}

TEST(LogDirectory, only_the_newest_default_ones_are_kept) {
  const TemporaryDirectory logs;
  const fs::path oldest = make_run(logs.path(), "20250101T000000Z", kNobody);
  const fs::path older = make_run(logs.path(), "20250102T000000Z", kNobody);
  const fs::path new_one = make_run(logs.path(), "20250103T000000Z", kNobody);
  prune_log_directories(logs.path(), 1);
  EXPECT_FALSE(fs::exists(oldest));
  EXPECT_FALSE(fs::exists(older));
  EXPECT_TRUE(fs::exists(new_one / "rank0.log"));
}

TEST(LogDirectory, what_still_runs_and_what_is_not_ours_stays) {
  const TemporaryDirectory logs;
  const fs::path running = make_run(logs.path(), "20250101T000000Z", ::getpid());
  const fs::path named = logs.path() / "my-run";
  const fs::path with_notes = make_run(logs.path(), "20250102T000000Z", kNobody);
  fs::create_directories(named);
  std::ofstream(with_notes / "notes.txt") << "keep me\n";
  prune_log_directories(logs.path(), 0);
  EXPECT_TRUE(fs::exists(running / "rank0.log"));
  EXPECT_TRUE(fs::exists(named));
  EXPECT_TRUE(fs::exists(with_notes / "notes.txt"));
}

TEST(LogDirectory, one_that_was_asked_for_and_cannot_be_written_is_an_error) {
  const TemporaryDirectory directory;
  make_log_directory(directory.path() / "a" / "b");
  EXPECT_TRUE(fs::is_directory(directory.path() / "a" / "b"));
  std::ofstream(directory.path() / "file") << "";
  EXPECT_THROW(make_log_directory(directory.path() / "file" / "logs"), base::StoreError);
}

TEST(TemporaryPlace, falls_back_to_the_usual_one_when_the_one_named_is_missing) {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", "/nonexistent", 1);
  EXPECT_EQ(temporary_place(), "/tmp");
  before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", kept.c_str(), 1);
}

}  // namespace
}  // namespace lockstep::launch
