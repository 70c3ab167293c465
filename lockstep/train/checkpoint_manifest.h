// The manifest of a checkpoint: what makes it whole. JSON in exactly one form, with a checksum of its own, so
// that any damaged byte shows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/train/checkpoint.h"

namespace lockstep::train {

inline constexpr std::string_view kManifestName = "manifest.json";

struct Manifest {
  std::uint64_t step = 0;
  std::vector<CheckpointFile> files;
};

std::string format_manifest(const Manifest& manifest);
// Throws DataError that says what is wrong: "it has no manifest", "its manifest is damaged".
Manifest read_manifest(const std::filesystem::path& checkpoint);

// "step-00000123", and back; nothing for other names.
std::string checkpoint_name(std::uint64_t step);
std::optional<std::uint64_t> step_of(const std::filesystem::path& checkpoint);
// How the names of a rank's files begin: "rank-00003.". The rest is from their checksum, so that a checkpoint
// that is written again leaves the one that was there whole until its manifest is replaced.
std::string part_prefix(int rank);

}  // namespace lockstep::train
