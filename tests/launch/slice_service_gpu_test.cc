// The service itself: needs a GPU and its driver's programs.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "lockstep/device/slices.h"
#include "lockstep/launch/slice_service.h"

namespace lockstep::launch {
namespace {

namespace fs = std::filesystem;

fs::path directory_of(const SliceService& service) {
  return fs::path(service.variables().at("CUDA_MPS_PIPE_DIRECTORY")).parent_path();
}

TEST(SliceServiceOnAGpu, listens_while_it_lives_and_leaves_nothing) {
  if (device::service_program().empty()) GTEST_SKIP() << "nvidia-cuda-mps-control is not here";
  fs::path directory;
  {
    const SliceService service;
    directory = directory_of(service);
    EXPECT_TRUE(fs::exists(directory / "pipe" / "control"));
  }
  EXPECT_FALSE(fs::exists(directory));
}

TEST(SliceServiceOnAGpu, ends_when_its_owner_is_killed) {
  if (device::service_program().empty()) GTEST_SKIP() << "nvidia-cuda-mps-control is not here";
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t owner = fork();
  if (owner == 0) {
    const SliceService service;
    const std::string path = directory_of(service).string();
    [[maybe_unused]] const ssize_t ignored = write(ends[1], path.data(), path.size());
    pause();
  }
  std::array<char, 256> text{};
  ASSERT_GT(read(ends[0], text.data(), text.size() - 1), 0);
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  for (int tries = 0; tries < 1000 && fs::exists(text.data()); ++tries) usleep(10'000);
  EXPECT_FALSE(fs::exists(text.data()));
}

}  // namespace
}  // namespace lockstep::launch
