// A file that appears whole or not at all, and survives a power cut once it has appeared.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "lockstep/base/sha256.h"
#include "lockstep/base/unique_fd.h"

namespace lockstep::train {

// What files on their way are called: left over only by a process that was killed.
inline constexpr std::string_view kPartialSuffix = ".partial";

// Written under a temporary name beside its place. If it is not published, it is removed.
class DurableFile {
 public:
  // `needed_bytes`: of the whole file, for the message when there is no room. Throws StoreError, as all
  // others do.
  DurableFile(std::filesystem::path temporary, std::uint64_t needed_bytes);
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  void write(const void* bytes, std::size_t count);
  void write(std::string_view text) { write(text.data(), text.size()); }
  std::uint64_t bytes_written() const { return bytes_written_; }
  // Of all that was written; once.
  std::string sha256() { return hash_.finish_hex(); }
  // Synchronises the file, gives it its name, and synchronises the directory.
  void publish(const std::filesystem::path& name);

 private:
  [[noreturn]] void fail(const std::string& doing, int error_number) const;

  std::filesystem::path temporary_;
  std::uint64_t needed_bytes_;
  base::UniqueFd fd_;
  base::Sha256 hash_;
  std::uint64_t bytes_written_ = 0;
  bool published_ = false;
};

// Creates the directory and its parents; what is new is synchronised.
void make_durable_directory(const std::filesystem::path& directory);

}  // namespace lockstep::train
