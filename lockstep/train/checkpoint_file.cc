#include "lockstep/train/checkpoint_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <span>

#include "lockstep/base/durable.h"
#include "lockstep/base/error.h"
#include "lockstep/base/units.h"

namespace lockstep::train {
namespace {

namespace fs = std::filesystem;

bool means_no_room(int error_number) {
  return error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
}

std::string free_text(const fs::path& file) {
  std::error_code unknown;
  const fs::space_info space = fs::space(file.parent_path(), unknown);
  return unknown ? "" : fmt::format(", {} are free", base::format_bytes(space.available));
}

}  // namespace

DurableFile::DurableFile(fs::path temporary, std::uint64_t needed_bytes)
    : temporary_(std::move(temporary)),
      needed_bytes_(needed_bytes),
      fd_(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (!fd_) fail("created", errno);
}

DurableFile::~DurableFile() {
  if (!published_ && fd_) ::unlink(temporary_.c_str());
}

void DurableFile::write(const void* bytes, std::size_t count) {
  hash_.update(std::span(static_cast<const std::uint8_t*>(bytes), count));
  const auto* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = ::write(fd_.get(), at, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("written", errno);
    at += written;
    count -= static_cast<std::size_t>(written);
    bytes_written_ += static_cast<std::uint64_t>(written);
  }
}

void DurableFile::publish(const fs::path& name) {
  if (::fsync(fd_.get()) != 0) fail("synchronised to disk", errno);
  if (::rename(temporary_.c_str(), name.c_str()) != 0) fail("renamed", errno);
  published_ = true;
  if (const std::error_code error = base::synchronise_directory(name.parent_path()))
    throw base::StoreError(fmt::format("the directory '{}' could not be synchronised to disk: {}",
                                       name.parent_path().string(), error.message()));
}

void DurableFile::fail(const std::string& doing, int error_number) const {
  const std::string why = base::errno_text(error_number);
  if (!means_no_room(error_number)) {
    throw base::StoreError(fmt::format("'{}' could not be {}: {}", temporary_.string(), doing, why));
  }
  throw base::StoreError(fmt::format(
      "there is no room for '{}': it needs {} bytes ({}){}: {}. Make room, or keep "
      "the run elsewhere (--store); the checkpoints before it are untouched",
      temporary_.string(), needed_bytes_, base::format_bytes(needed_bytes_), free_text(temporary_), why));
}

void make_durable_directory(const fs::path& directory) {
  if (const std::error_code error = base::make_durable_directory(directory))
    throw base::StoreError(
        fmt::format("the directory '{}' could not be created: {}", directory.string(), error.message()));
}

}  // namespace lockstep::train
