#include "tests/base/synchronised.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <string>

namespace lockstep::testing {

std::set<std::filesystem::path>& synchronised() {
  static std::set<std::filesystem::path> names;
  return names;
}

}  // namespace lockstep::testing

// The program's own comes before the C library's.
extern "C" int fsync(int fd) {
  const std::filesystem::path link = "/proc/self/fd/" + std::to_string(fd);
  lockstep::testing::synchronised().insert(std::filesystem::read_symlink(link));
  return static_cast<int>(::syscall(SYS_fsync, fd));
}
