#include "tests/base/synchronised.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <mutex>
#include <string>

namespace lockstep::testing {
namespace {

struct Names {
  std::mutex mutex;
  std::set<std::filesystem::path> set;
};

Names& names() {
  static Names all;
  return all;
}

}  // namespace

std::set<std::filesystem::path> synchronised() {
  const std::lock_guard lock(names().mutex);
  return names().set;
}

void forget_synchronised() {
  const std::lock_guard lock(names().mutex);
  names().set.clear();
}

static void note_synchronised(const std::filesystem::path& name) {
  const std::lock_guard lock(names().mutex);
  names().set.insert(name);
}

}  // namespace lockstep::testing

// The program's own comes before the C library's.
extern "C" int fsync(int fd) {
  const std::filesystem::path link = "/proc/self/fd/" + std::to_string(fd);
  lockstep::testing::note_synchronised(std::filesystem::read_symlink(link));
  return static_cast<int>(::syscall(SYS_fsync, fd));
}
