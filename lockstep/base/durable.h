// Names that last: what was made or renamed in a directory survives a power cut only once the directory
// itself is on the disk.
#pragma once

#include <filesystem>
#include <system_error>

namespace lockstep::base {

// Synchronises the directory's names to disk. Where that cannot be asked for, by the file system or without
// permission to read the directory, nothing is wrong.
std::error_code synchronise_directory(const std::filesystem::path& directory);

// Makes the directory and its parents, unless they are there; what is new is synchronised.
std::error_code make_durable_directory(const std::filesystem::path& directory);

// Gives what is called `from` the name `to`, for good.
std::error_code rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace lockstep::base
