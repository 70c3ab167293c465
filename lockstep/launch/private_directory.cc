#include "lockstep/launch/private_directory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <fmt/core.h>
#include <unistd.h>

#include <ctime>
#include <string>

#include "lockstep/base/error.h"
#include "lockstep/launch/temporary_place.h"

namespace lockstep::launch {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "lockstep-run-";

fs::path parent_directory() {
  return access("/dev/shm", W_OK | X_OK) == 0 ? fs::path("/dev/shm") : temporary_place();
}

bool is_ours(const fs::path& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

// The lock is the directory itself: it exists from the first moment, and the kernel lets go of it for the
// dead.
base::UniqueFd try_lock(const fs::path& path) {
  base::UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (fd && flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.reset();
  return fd;
}

// Younger than this it may belong to a launcher that has made it and not yet locked it.
bool is_settled(const fs::path& path) {
  struct stat info {};
  constexpr time_t kSettledSeconds = 10;
  return lstat(path.c_str(), &info) == 0 && time(nullptr) - info.st_mtime > kSettledSeconds;
}

void remove_abandoned(const fs::path& parent) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, ignored)) {
    const bool candidate = entry.path().filename().string().starts_with(kPrefix);
    if (candidate && is_ours(entry.path()) && is_settled(entry.path()) && try_lock(entry.path()))
      fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

PrivateDirectory::PrivateDirectory() {
  const fs::path parent = parent_directory();
  remove_abandoned(parent);
  std::string pattern = (parent / fmt::format("{}{}-XXXXXX", kPrefix, getpid())).string();
  if (mkdtemp(pattern.data()) == nullptr)
    throw base::StoreError("cannot make a directory in " + parent.string() + ": " + base::errno_text());
  path_ = pattern;
  lock_ = try_lock(path_);
  janitor_ = std::make_unique<Janitor>(path_);
}

PrivateDirectory::~PrivateDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace lockstep::launch
