// Names that last: what was made or renamed in a directory survives a power cut only once the directory
// itself is on the disk. Who else may see what is made. And files that are in use: whoever dies holds them
// no longer.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include "lockstep/base/unique_fd.h"

namespace lockstep::base {

// Synchronises the directory's names to disk. Where that cannot be asked for, by the file system or without
// permission to read the directory, nothing is wrong.
std::error_code synchronise_directory(const std::filesystem::path& directory);

// Makes the directory and its parents, unless they are there; what is new is synchronised.
std::error_code make_durable_directory(const std::filesystem::path& directory);

// Gives what is called `from` the name `to`, for good.
std::error_code rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

// While it lives, what this process and those it starts make is their user's alone: directories of mode 0700,
// files of mode 0600. Nothing where it is not wanted: then the umask decides. What is there already stays as
// it is. The umask is the whole process's.
class PrivateFiles {
 public:
  explicit PrivateFiles(bool wanted);
  PrivateFiles(const PrivateFiles&) = delete;
  ~PrivateFiles();

 private:
  mode_t before_;
};

// Holds a file as long as what is returned lasts, together with any number of others. Where a file system
// knows no locks, nothing is held.
UniqueFd hold_file(const std::filesystem::path& file);

// The file for oneself, as long as what is returned lasts; nothing while somebody holds it.
std::optional<UniqueFd> claim_file(const std::filesystem::path& file);

}  // namespace lockstep::base
