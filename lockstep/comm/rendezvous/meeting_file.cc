#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <fstream>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/base/unique_fd.h"
#include "lockstep/comm/rendezvous/meeting_place.h"
#include "lockstep/comm/rendezvous/token.h"

namespace lockstep::comm {
namespace {

// In a directory that others can write to, a name can be taken by somebody else before us.
void make_private_directory(const std::filesystem::path& path) {
  ::mkdir(path.c_str(), 0700);
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0)
    throw base::StoreError(fmt::format("{} cannot be made: {}", path.string(), base::errno_text()));
  if (!S_ISDIR(facts.st_mode) || facts.st_uid != ::geteuid() || (facts.st_mode & 0077) != 0)
    throw base::StoreError(
        fmt::format("{} is not a directory that only you can enter. Next step: remove it, or "
                    "set XDG_RUNTIME_DIR",
                    path.string()));
}

}  // namespace

std::filesystem::path MeetingFile::runtime_directory() {
  if (const auto runtime = base::environment("XDG_RUNTIME_DIR")) {
    std::error_code error;
    if (std::filesystem::is_directory(*runtime, error)) return std::filesystem::path(*runtime) / "lockstep";
  }
  const std::string temporary = base::environment("TMPDIR").value_or("/tmp");
  return std::filesystem::path(temporary) / fmt::format("lockstep-{}", ::geteuid());
}

MeetingFile::MeetingFile(const std::string& job, const std::filesystem::path& directory)
    : path_(directory / ("job-" + derive_token("meeting file", job))) {
  make_private_directory(directory);
}

MeetingFile::~MeetingFile() {
  if (written_) ::unlink(path_.c_str());
}

void MeetingFile::write(const Endpoint& endpoint) {
  const std::filesystem::path draft = path_.string() + "." + std::to_string(::getpid());
  const std::string text = fmt::format("{} {}\n", endpoint.address, endpoint.port);
  ::unlink(draft.c_str());
  const base::UniqueFd file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  const bool whole =
      file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!whole || ::rename(draft.c_str(), path_.c_str()) != 0)
    throw base::StoreError(fmt::format("{} cannot be written: {}", path_.string(), base::errno_text()));
  written_ = true;
}

std::optional<Endpoint> MeetingFile::read() const {
  std::ifstream file(path_);
  Endpoint endpoint;
  if (!(file >> endpoint.address >> endpoint.port)) return std::nullopt;
  return endpoint;
}

}  // namespace lockstep::comm
