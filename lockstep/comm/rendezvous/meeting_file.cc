#include "lockstep/comm/rendezvous/meeting_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <sstream>

#include "lockstep/base/error.h"
#include "lockstep/base/sha256.h"
#include "lockstep/base/unique_fd.h"
#include "lockstep/comm/rendezvous/key.h"

namespace lockstep::comm {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "meeting-";
constexpr std::chrono::hours kLongestMeeting{
    24};  // whatever is older was left behind by a run that was killed

[[noreturn]] void throw_unusable(const fs::path& path, std::string_view why) {
  throw base::StoreError(fmt::format(
      "{}: {}. Ranks that no launcher of ours started find their run's key in this file. Next step: name "
      "with --store (or LOCKSTEP_STORE) a directory that all ranks share and you can write to, or export {} "
      "on every rank, the same (`openssl rand -hex 32` makes one)",
      path.string(), why, kKeyVariable));
}

std::string file_name(std::string job) {
  for (char& letter : job)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '.') letter = '-';
  constexpr std::size_t kMostLetters = 100;
  return kPrefix + job.substr(0, kMostLetters);
}

void write_whole(const fs::path& path, int flags, const std::string& text) {
  const base::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0600));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw_unusable(path, base::errno_text());
}

void check_owner(const fs::path& path, int fd) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) throw_unusable(path, base::errno_text());
  if (facts.st_uid != ::geteuid()) throw_unusable(path, "it belongs to another user");
  if ((facts.st_mode & 0077) != 0) throw_unusable(path, "other users may read or write it");
}

// Nothing while its last line is still being written.
MeetingPoint parsed(const fs::path& path, const std::string& text) {
  std::istringstream lines(text.substr(0, text.rfind('\n') + 1));
  MeetingPoint point;
  Endpoint server;
  if (!(lines >> point.key) || point.key.size() != 2 * kNonceBytes) throw_unusable(path, "it holds no key");
  if (lines >> server.address >> server.port) point.server = server;
  return point;
}

// A file of the user's may have such a name in a directory that is a store as well.
bool is_meeting_file(const fs::path& path) {
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat facts {};
  if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) || (facts.st_mode & 0077) != 0)
    return false;
  std::array<char, 2 * kNonceBytes + 1> line;
  return ::read(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
         line.back() == '\n' && std::all_of(line.begin(), line.end() - 1, [](unsigned char letter) {
           return std::isxdigit(letter) != 0;
         });
}

void sweep(const fs::path& directory) {
  std::error_code ignored;
  const auto now = fs::file_time_type::clock::now();
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    const fs::file_time_type written = entry.last_write_time(ignored);
    if (!ignored && now - written > kLongestMeeting && is_meeting_file(entry.path()))
      fs::remove(entry.path(), ignored);
  }
}

}  // namespace

MeetingFile::MeetingFile(const fs::path& directory, const std::string& job)
    : path_(directory / file_name(job)) {
  if (directory.empty())
    throw base::ConfigError(fmt::format(
        "the ranks have no key by which to know each other. Next step: start `lockstep train` on every rank "
        "with a --store that all of them share, or export {} on every rank, the same (`openssl rand -hex 32` "
        "makes one)",
        kKeyVariable));
}

MeetingFile::~MeetingFile() {
  if (key_.empty()) return;
  try {
    const auto now = read();
    if (now && now->key == key_ && (leads_ || !now->server)) ::unlink(path_.c_str());
  } catch (const base::Error&) {
    // Somebody has replaced it by something else, which is not ours to remove.
  }
}

std::optional<MeetingPoint> MeetingFile::read() const {
  const base::UniqueFd file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file && errno == ENOENT) return std::nullopt;
  if (!file) throw_unusable(path_, base::errno_text());
  check_owner(path_, file.get());
  std::array<char, 1024> text;
  const ssize_t count = ::read(file.get(), text.data(), text.size());
  if (count < 0) throw_unusable(path_, base::errno_text());
  return parsed(path_, std::string(text.data(), static_cast<std::size_t>(count)));
}

// link() fails when the name is taken: of ranks that race, one wins and all read what it wrote, whole.
void MeetingFile::make() {
  std::error_code ignored;
  fs::create_directories(path_.parent_path(), ignored);
  sweep(path_.parent_path());
  const std::string key = make_key();
  const fs::path draft = fmt::format("{}.{}", path_.string(), make_key().substr(0, 16));
  write_whole(draft, O_CREAT | O_EXCL, key + "\n");
  const int linked = ::link(draft.c_str(), path_.c_str());
  const int error = errno;
  ::unlink(draft.c_str());
  if (linked == 0) key_ = key;
  if (linked != 0 && error != EEXIST) throw_unusable(path_, base::errno_text(error));
}

MeetingPoint MeetingFile::read_or_make() {
  constexpr int kMostTries = 10;
  for (int i = 0; i < kMostTries; ++i) {
    if (auto point = read()) return *point;
    make();
  }
  throw_unusable(path_, "it vanishes whenever it is made");
}

std::string MeetingFile::take_key() {
  MeetingPoint point = read_or_make();
  if (point.server) {
    ::unlink(path_.c_str());
    point = read_or_make();
  }
  key_ = point.key;
  leads_ = true;
  return point.key;
}

// Added to the file that is there, not put in its place: over NFS a name that was seen is asked for again
// only after half a minute, a file's contents at every opening.
void MeetingFile::say(const Endpoint& server) {
  write_whole(path_, O_APPEND, fmt::format("{} {}\n", server.address, server.port));
}

}  // namespace lockstep::comm
