// Checkpoints: whole or absent. Each is a directory `step-00000123` with one file a rank that has state of
// its own and a manifest, written last, that lists every file with its length and SHA-256.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/models/unit.h"

namespace lockstep::train {

// What one rank keeps.
struct CheckpointPart {
  nlohmann::json facts;                      // spec hash, position, strategy state, metrics so far ...
  std::vector<models::NamedTensor> tensors;  // weights, buffers, optimiser state
};

// A file that is on disk, to be listed in the manifest.
struct CheckpointFile {
  std::string name;
  std::uint64_t bytes = 0;
  std::string sha256;
};

// One rank writes its part: to a temporary name, synchronised, then renamed. Throws StoreError (a full disk,
// with how much was needed); what was written is removed.
CheckpointFile write_part(const std::filesystem::path& checkpoints, std::uint64_t step, int rank,
                          const CheckpointPart& part);
// Rank 0, when all parts are there: makes the checkpoint whole, and removes all but the newest `keep` of
// them.
void write_manifest(const std::filesystem::path& checkpoints, std::uint64_t step,
                    const std::vector<CheckpointFile>& files, int keep = 2);

// What is wrong with a checkpoint, in one line; nothing when it is whole.
std::optional<std::string> fault_of(const std::filesystem::path& checkpoint);

struct FoundCheckpoint {
  std::filesystem::path path;
  std::uint64_t step = 0;
  std::vector<std::string> refused;  // newer ones, each with its fault
};
// The newest whole checkpoint: `where` is one, or a directory of them, or a run's directory. Throws DataError
// that lists what was refused when there is none.
FoundCheckpoint find_checkpoint(const std::filesystem::path& where);

// The part of a rank; rank 0's where a rank has none of its own. Throws DataError.
CheckpointPart read_part(const std::filesystem::path& checkpoint, int rank);

}  // namespace lockstep::train
