#include "lockstep/lab/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "lockstep/base/durable.h"
#include "lockstep/base/error.h"
#include "lockstep/base/unique_fd.h"

namespace lockstep::lab {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& file, int error_number) {
  throw base::StoreError(fmt::format("{} cannot be written: {}.{}", file.string(),
                                     base::errno_text(error_number), store_next_step(error_number, file)));
}

// Returns the error number, 0 when all was written and is on the disk.
int write_and_sync(const base::UniqueFd& fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(fd.get()) == 0 ? 0 : errno;
}

fs::path existing_parent(const fs::path& place) {
  std::error_code unknown;
  fs::path parent = place.parent_path();
  while (!parent.empty() && parent != parent.root_path() && !fs::exists(parent, unknown))
    parent = parent.parent_path();
  return parent;
}

}  // namespace

std::string store_next_step(int error_number, const fs::path& place) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return fmt::format(
          " Next step: free space there (lockstep runs list, lockstep runs rm ID), or use another store: "
          "--store DIR or LOCKSTEP_STORE.");
    case EFBIG:
      return " Next step: raise the limit on the size of files (ulimit -f).";
    case EACCES:
    case EPERM:
    case EROFS:
      return fmt::format(" Next step: make {} writable, or use another store: --store DIR or LOCKSTEP_STORE.",
                         existing_parent(place).string());
    default:
      return " Next step: look at that path, or use another store: --store DIR or LOCKSTEP_STORE.";
  }
}

void write_atomically(const fs::path& file, std::string_view text) {
  const fs::path beside = file.string() + fmt::format(".{}.part", ::getpid());
  base::UniqueFd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!fd) refuse(file, errno);
  int error_number = write_and_sync(fd, text);
  fd.reset();
  if (error_number == 0) error_number = base::rename_durably(beside, file).value();
  if (error_number == 0) return;
  ::unlink(beside.c_str());
  refuse(file, error_number);
}

std::string read_whole(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  if (!stream)
    throw base::StoreError(fmt::format("{} cannot be read: {}.", file.string(), base::errno_text()));
  return text.str();
}

}  // namespace lockstep::lab
