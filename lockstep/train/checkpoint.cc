#include "lockstep/train/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/base/sha256.h"
#include "lockstep/base/text.h"
#include "lockstep/train/checkpoint_file.h"
#include "lockstep/train/checkpoint_manifest.h"
#include "lockstep/train/checkpoint_part.h"
#include "lockstep/train/checkpoint_tidy.h"

namespace lockstep::train {
namespace {

namespace fs = std::filesystem;

// Long enough that a checkpoint written twice with other contents gets another name.
constexpr std::size_t kNameDigits = 16;

std::string hash_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> piece(1 << 20);
  base::Sha256 hash;
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())), file.gcount() > 0) {
    hash.update(std::string_view(piece.data(), static_cast<std::size_t>(file.gcount())));
  }
  return hash.finish_hex();
}

std::optional<std::string> fault_of_file(const fs::path& checkpoint, const CheckpointFile& listed) {
  std::error_code error;
  const std::uint64_t bytes = fs::file_size(checkpoint / listed.name, error);
  if (error) return fmt::format("{} is missing", listed.name);
  if (bytes != listed.bytes)
    return fmt::format("{} has {} bytes instead of {}", listed.name, bytes, listed.bytes);
  if (hash_of(checkpoint / listed.name) != listed.sha256)
    return fmt::format("{} is damaged (SHA-256)", listed.name);
  return std::nullopt;
}

// The manifest, checked against the name of its directory.
Manifest trusted_manifest(const fs::path& checkpoint) {
  Manifest manifest = read_manifest(checkpoint);
  if (step_of(checkpoint) != manifest.step) {
    throw base::DataError(fmt::format("its manifest is that of step {}", manifest.step));
  }
  if (manifest.files.empty()) throw base::DataError("its manifest lists no files");
  return manifest;
}

// Newest first; a directory that is a checkpoint itself is the only one.
std::vector<fs::path> candidates(const fs::path& where) {
  const fs::path plain = (where / "").parent_path();  // "step-00000001/" is a name too
  if (step_of(plain)) return {plain};
  const fs::path inside = plain / "checkpoints";
  std::vector<fs::path> all = checkpoints_in(fs::is_directory(inside) ? inside : plain);
  std::reverse(all.begin(), all.end());
  return all;
}

const CheckpointFile& file_of(const Manifest& manifest, int rank) {
  for (const std::string& prefix : {part_prefix(rank), part_prefix(0)}) {
    const auto found =
        std::find_if(manifest.files.begin(), manifest.files.end(),
                     [&](const CheckpointFile& file) { return file.name.starts_with(prefix); });
    if (found != manifest.files.end()) return *found;
  }
  throw base::DataError(fmt::format("it has neither a part of rank {} nor one of rank 0", rank));
}

}  // namespace

CheckpointFile write_part(const fs::path& checkpoints, std::uint64_t step, int rank,
                          const CheckpointPart& part) {
  const fs::path directory = checkpoints / checkpoint_name(step);
  make_durable_directory(directory);
  const PartFront front = front_of(part);
  DurableFile file(directory / fmt::format("{}part{}", part_prefix(rank), kPartialSuffix), front.file_bytes);
  file.write(front.text);
  write_values(file, part);
  CheckpointFile listed{"", file.bytes_written(), file.sha256()};
  listed.name = fmt::format("{}{}.part", part_prefix(rank), listed.sha256.substr(0, kNameDigits));
  file.publish(directory / listed.name);
  return listed;
}

void write_manifest(const fs::path& checkpoints, std::uint64_t step, const std::vector<CheckpointFile>& files,
                    int keep) {
  const fs::path directory = checkpoints / checkpoint_name(step);
  const std::string text = format_manifest({step, files});
  DurableFile file(directory / fmt::format("{}{}", kManifestName, kPartialSuffix), text.size());
  file.write(text);
  file.publish(directory / kManifestName);
  tidy(checkpoints, step, files, keep);
}

std::optional<std::string> fault_of(const fs::path& checkpoint) {
  try {
    for (const CheckpointFile& file : trusted_manifest(checkpoint).files) {
      if (auto fault = fault_of_file(checkpoint, file)) return fault;
    }
  } catch (const base::DataError& error) {
    return error.what();
  }
  return std::nullopt;
}

FoundCheckpoint find_checkpoint(const fs::path& where) {
  FoundCheckpoint found;
  for (const fs::path& checkpoint : candidates(where)) {
    const auto fault = fault_of(checkpoint);
    if (!fault) {
      found.path = checkpoint;
      found.step = *step_of(checkpoint);
      return found;
    }
    found.refused.push_back(fmt::format("{}: {}", checkpoint.filename().string(), *fault));
  }
  if (found.refused.empty()) {
    throw base::DataError(
        fmt::format("there is no checkpoint in '{}'; give a run's directory, or one of its "
                    "checkpoints (step-...)",
                    where.string()));
  }
  throw base::DataError(
      fmt::format("there is no whole checkpoint in '{}': {}. Train anew, or resume from another run.",
                  where.string(), base::join(found.refused, "; ")));
}

CheckpointPart read_part(const fs::path& checkpoint, int rank) {
  std::string fault;
  try {
    const Manifest manifest = trusted_manifest(checkpoint);
    const CheckpointFile& file = file_of(manifest, rank);
    fault = fault_of_file(checkpoint, file).value_or("");
    if (fault.empty()) return parse_part(checkpoint / file.name);
  } catch (const base::DataError& error) {
    fault = error.what();
  }
  throw base::DataError(
      fmt::format("the checkpoint '{}' cannot be read by rank {}: {}; resume from one before it",
                  checkpoint.string(), rank, fault));
}

}  // namespace lockstep::train
