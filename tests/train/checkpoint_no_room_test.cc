// A disk that is really full, and a limit on file sizes that is really reached.
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <csignal>
#include <thread>

#include "lockstep/base/error.h"
#include "tests/train/checkpoint_fixture.h"

namespace lockstep::train {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kValues = 1 << 20;  // 4 MiB of f32

CheckpointPart large_part() {
  return {{}, {{"weight", at::zeros({kValues})}}};
}

std::string error_of_writing(const fs::path& checkpoints) {
  try {
    write_part(checkpoints, 2, 0, large_part());
  } catch (const base::StoreError& error) {
    return error.what();
  }
  return "";
}

void expect_no_room(const fs::path& checkpoints) {
  const std::string error = error_of_writing(checkpoints);
  EXPECT_THAT(error, HasSubstr("no room"));
  EXPECT_THAT(error, HasSubstr("it needs 41944"));  // 4 * 2^20 and a header
  EXPECT_THAT(names_in(checkpoints / "step-00000002"), IsEmpty());
  EXPECT_EQ(find_checkpoint(checkpoints).step, 1U);
}

// Soft limit on the size of files, until it goes.
struct FileSizeLimit {
  explicit FileSizeLimit(rlim_t bytes) : handler(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit lower{bytes, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &lower);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
  }
  rlimit before{};
  void (*handler)(int);
};

using CheckpointNoRoom = CheckpointTest;

TEST_F(CheckpointNoRoom, ALimitOnFileSizesIsAStoreErrorWithTheBytesNeeded) {
  write(1);
  const FileSizeLimit limit(1 << 20);
  expect_no_room(root_);
}

TEST_F(CheckpointNoRoom, AFullDiskIsAStoreErrorWithTheBytesNeeded) {
  // Mount namespaces belong to threads: the tiny disk is seen by this one only and goes with it.
  bool mounted = false;
  std::thread([&] {
    mounted = ::unshare(CLONE_NEWNS) == 0 &&
              ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
              ::mount("tmpfs", root_.c_str(), "tmpfs", 0, "size=2m") == 0;
    if (!mounted) return;
    write(1);
    expect_no_room(root_);
  }).join();
  if (!mounted)
    GTEST_SKIP() << "mounting a small tmpfs needs root and a kernel that lets it; the test of the "
                    "file size limit covers the same code";
}

}  // namespace
}  // namespace lockstep::train
