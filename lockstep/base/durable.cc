#include "lockstep/base/durable.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace lockstep::base {
namespace {

namespace fs = std::filesystem;

fs::path parent_of(const fs::path& path) {
  return fs::absolute(path).parent_path();
}

std::error_code error_of(int error_number) {
  const bool cannot_be_asked = error_number == EINVAL || error_number == ENOTSUP || error_number == EACCES;
  return {cannot_be_asked ? 0 : error_number, std::generic_category()};
}

}  // namespace

std::error_code synchronise_directory(const fs::path& directory) {
  const UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd && ::fsync(fd.get()) == 0 ? std::error_code() : error_of(errno);
}

std::error_code make_durable_directory(const fs::path& directory) {
  std::error_code error;
  if (fs::is_directory(directory, error)) return {};
  const fs::path parent = parent_of(directory);
  if ((error = make_durable_directory(parent))) return error;
  if (!fs::create_directory(directory, error)) return error;  // false without one: another made it meanwhile
  return synchronise_directory(parent);
}

std::error_code rename_durably(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  return error ? error : synchronise_directory(parent_of(to));
}

PrivateFiles::PrivateFiles(bool wanted) : before_(::umask(0077)) {
  if (!wanted) ::umask(before_);
}
PrivateFiles::~PrivateFiles() {
  ::umask(before_);
}

UniqueFd hold_file(const fs::path& file) {
  UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0) fd.reset();
  return fd;
}

// Where files lie on a server, a lock for oneself needs the right to write.
std::optional<UniqueFd> claim_file(const fs::path& file) {
  UniqueFd fd(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return std::nullopt;
  return fd;
}

}  // namespace lockstep::base
