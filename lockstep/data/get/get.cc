#include "lockstep/data/get/get.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "lockstep/base/error.h"
#include "lockstep/base/sha256.h"
#include "lockstep/base/text.h"
#include "lockstep/base/unique_fd.h"
#include "lockstep/data/files.h"
#include "lockstep/data/get/unpack.h"

namespace lockstep::data {
namespace {

namespace fs = std::filesystem;

std::string digest_of(std::span<const std::uint8_t> bytes) {
  base::Sha256 hash;
  hash.update(bytes);
  return hash.finish_hex();
}

bool is_present(const fs::path& directory, const RemoteFile& file) {
  for (const Member& member : file.members) {
    const fs::path place = directory / member.name;
    if (!fs::exists(place) || digest_of(read_file(place)) != member.sha256) return false;
  }
  return true;
}

[[noreturn]] void refuse_write(const fs::path& file) {
  throw base::DataError(
      fmt::format("{} cannot be written: {}. Is the disk full?", file.string(), base::errno_text()));
}

void write_atomically(const fs::path& file, std::span<const std::uint8_t> bytes) {
  const fs::path temporary = fmt::format("{}.{}.tmp", file.string(), ::getpid());
  base::UniqueFd out(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!out) refuse_write(temporary);
  while (!bytes.empty()) {
    const ssize_t written = ::write(out.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int cause = errno;
      fs::remove(temporary);
      errno = cause;
      refuse_write(temporary);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  if (::fsync(out.get()) != 0 || ::rename(temporary.c_str(), file.c_str()) != 0) refuse_write(file);
}

// The members' contents, each checked against its digest.
void unpack(const fs::path& part, const RemoteFile& file, const fs::path& directory) {
  Bytes content = read_file(part);
  constexpr std::uint64_t kMostBytes = 1 << 30;  // the largest set has 184 MB
  if (file.packing != Packing::none) content = gunzip(content, file.name, kMostBytes);
  for (const Member& member : file.members) {
    std::span<const std::uint8_t> bytes = content;
    if (file.packing == Packing::tar_gzip) bytes = find_in_tar(content, member.archive_path, file.name);
    const std::string digest = digest_of(bytes);
    if (digest != member.sha256) {
      throw base::DataError(
          fmt::format("{} has the checksum {} where {} belongs", member.name, digest, member.sha256));
    }
    write_atomically(directory / member.name, bytes);
  }
}

// Mirrors may pack differently: what one sent must not be continued from another.
fs::path part_file(const fs::path& directory, const RemoteFile& file, const std::string& address) {
  return directory / fmt::format("{}.{}.part", file.name, base::sha256_hex(address).substr(0, 8));
}

struct Attempts {
  std::vector<std::string> answers;
  bool all_unreachable = true;
};

bool try_address(const std::string& address, const RemoteFile& file, const fs::path& directory,
                 const TransferOptions& options, Attempts& attempts) {
  const fs::path part = part_file(directory, file, address);
  const TransferResult result = fetch(address, part, options);
  attempts.all_unreachable = attempts.all_unreachable && result.unreachable;
  if (!result.done) {
    if (fs::exists(part) && fs::file_size(part) == 0) fs::remove(part);
    attempts.answers.push_back(fmt::format("{}: {}", address, result.error));
    return false;
  }
  try {
    unpack(part, file, directory);
    fs::remove(part);
    return true;
  } catch (const base::DataError& error) {
    fs::remove(part);  // what it holds is wrong: going on from it cannot help
    attempts.answers.push_back(fmt::format("{}: {}", address, error.what()));
    return false;
  }
}

[[noreturn]] void refuse(const RemoteSet& set, const RemoteFile& file, const fs::path& directory,
                         const Attempts& attempts) {
  const char* offline =
      attempts.all_unreachable ? "\nNo address could be reached: this machine seems to be offline." : "";
  std::vector<std::string> names;
  for (const Member& member : file.members) names.push_back(member.name);
  throw base::DataError(
      fmt::format("{} of data set '{}' could not be fetched:\n  {}{}\nFetch it elsewhere and put {} into {}, "
                  "or try again later.",
                  file.name, set.name, base::join(attempts.answers, "\n  "), offline, base::join(names, ", "),
                  directory.string()));
}

void get_file(const RemoteSet& set, const RemoteFile& file, const fs::path& directory,
              const TransferOptions& options) {
  Attempts attempts;
  for (const std::string& base : set.bases) {
    if (try_address(base + file.name, file, directory, options, attempts)) return;
  }
  refuse(set, file, directory, attempts);
}

}  // namespace

GetResult get_set(const RemoteSet& set, const fs::path& root, const TransferOptions& options) {
  GetResult result;
  result.directory = root / set.directory;
  std::error_code failure;
  fs::create_directories(result.directory, failure);
  if (failure) {
    throw base::DataError(fmt::format("the directory {} cannot be made: {}. Choose another with --data-dir.",
                                      result.directory.string(), failure.message()));
  }
  for (const RemoteFile& file : set.files) {
    if (is_present(result.directory, file)) {
      ++result.files_present;
    } else {
      get_file(set, file, result.directory, options);
      ++result.files_fetched;
    }
  }
  return result;
}

}  // namespace lockstep::data
