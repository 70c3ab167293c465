#include "lockstep/comm/rendezvous/token.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/base/sha256.h"
#include "lockstep/base/unique_fd.h"

namespace lockstep::comm {
namespace {

constexpr std::size_t kSecretBytes = 32;

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  // Up to 256 bytes getrandom() gives whole or not at all.
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(count))
    throw base::StoreError("the system gives no random bytes: " + base::errno_text());
  return bytes;
}

int digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

[[noreturn]] void throw_store_error(const std::filesystem::path& path, std::string_view what) {
  throw base::StoreError(fmt::format(
      "{}: {}. The ranks of a run that no launcher of ours started share this file's secret. Next step: "
      "make it yours with mode 0600, remove it, or set LOCKSTEP_TOKEN to 32 hexadecimal digits on every rank",
      path.string(), what));
}

void write_secret(const std::filesystem::path& path) {
  const base::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) throw_store_error(path, base::errno_text());
  const std::string secret = random_bytes(kSecretBytes);
  if (::write(file.get(), secret.data(), secret.size()) != static_cast<ssize_t>(secret.size()))
    throw_store_error(path, base::errno_text());
}

// link() fails when the name is taken: of ranks that race, one wins and all read what it wrote, whole.
void create_secret(const std::filesystem::path& path) {
  std::filesystem::create_directories(path.parent_path());
  const std::filesystem::path draft = path.string() + "." + base::hexadecimal(random_bytes(8));
  write_secret(draft);
  const int linked = ::link(draft.c_str(), path.c_str());
  const int error = errno;
  ::unlink(draft.c_str());
  if (linked != 0 && error != EEXIST) throw_store_error(path, base::errno_text(error));
}

void check_owner(const std::filesystem::path& path, int fd) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) throw_store_error(path, base::errno_text());
  if (facts.st_uid != ::geteuid()) throw_store_error(path, "it belongs to another user");
  if ((facts.st_mode & 0077) != 0) throw_store_error(path, "other users may read or write it");
}

std::optional<std::string> read_secret(const std::filesystem::path& path) {
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file && errno == ENOENT) return std::nullopt;
  if (!file) throw_store_error(path, base::errno_text());
  check_owner(path, file.get());
  std::string secret(kSecretBytes, '\0');
  if (::read(file.get(), secret.data(), secret.size()) != static_cast<ssize_t>(kSecretBytes))
    throw_store_error(path, "it is shorter than a secret");
  return secret;
}

}  // namespace

std::string make_token() {
  return base::hexadecimal(random_bytes(kTokenBytes));
}

std::string token_bytes(std::string_view token) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < token.size(); i += 2) {
    const int high = digit_value(token[i]);
    const int low = digit_value(token[i + 1]);
    if (high < 0 || low < 0) break;
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  if (bytes.size() != kTokenBytes || token.size() != 2 * kTokenBytes)
    throw base::ConfigError("the run's token (LOCKSTEP_TOKEN) is not 32 hexadecimal digits");
  return bytes;
}

std::string derive_token(std::string_view secret, std::string_view place) {
  return base::sha256_hex(fmt::format("lockstep run token\n{}\n{}", secret, place))
      .substr(0, 2 * kTokenBytes);
}

std::string user_secret(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / "secret";
  if (auto secret = read_secret(path)) return *secret;
  create_secret(path);
  if (auto secret = read_secret(path)) return *secret;
  throw_store_error(path, "it vanished while it was made");
}

std::filesystem::path state_directory() {
  if (const auto own = base::environment("LOCKSTEP_STATE_DIR")) return *own;
  if (const auto state = base::environment("XDG_STATE_HOME"))
    return std::filesystem::path(*state) / "lockstep";
  const auto home = base::environment("HOME");
  if (!home)
    throw base::ConfigError(
        "HOME is not set, so the run's token cannot be kept. Next step: set HOME, XDG_STATE_HOME or "
        "LOCKSTEP_TOKEN (32 hexadecimal digits, the same on every rank)");
  return std::filesystem::path(*home) / ".local" / "state" / "lockstep";
}

bool equal_in_constant_time(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    difference |= static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i]);
  return difference == 0;
}

}  // namespace lockstep::comm
