#include "lockstep/base/durable.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "lockstep/base/unique_fd.h"

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

}  // namespace lockstep::base
