// What is removed when a checkpoint has become whole: older ones, and what killed processes left behind.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "lockstep/train/checkpoint.h"

namespace lockstep::train {

// The directories of checkpoints, whole or not, by step.
std::vector<std::filesystem::path> checkpoints_in(const std::filesystem::path& checkpoints);

// After the manifest of `step` was written. Keeps it and the newest others up to `keep` in all; removes the
// files in it that are not in the manifest, and older checkpoints that were never finished. Newer ones are
// left alone where other ranks may be writing already. What cannot be removed is left: it does no harm.
void tidy(const std::filesystem::path& checkpoints, std::uint64_t step,
          const std::vector<CheckpointFile>& files, int keep);

}  // namespace lockstep::train
