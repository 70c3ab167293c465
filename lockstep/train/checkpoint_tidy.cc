#include "lockstep/train/checkpoint_tidy.h"

#include <algorithm>

#include "lockstep/train/checkpoint_manifest.h"

namespace lockstep::train {
namespace {

namespace fs = std::filesystem;

bool finished(const fs::path& checkpoint) {
  std::error_code error;
  return fs::exists(checkpoint / kManifestName, error);
}

// The manifest first: what is interrupted here is an unfinished checkpoint, not a damaged one.
void remove_checkpoint(const fs::path& checkpoint) {
  std::error_code ignored;
  fs::remove(checkpoint / kManifestName, ignored);
  fs::remove_all(checkpoint, ignored);
}

void remove_unlisted(const fs::path& checkpoint, const std::vector<CheckpointFile>& files) {
  std::error_code ignored;
  std::vector<fs::path> unlisted;
  for (const auto& entry : fs::directory_iterator(checkpoint, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool listed = std::any_of(files.begin(), files.end(),
                                    [&](const CheckpointFile& file) { return file.name == name; });
    if (!listed && name != kManifestName) unlisted.push_back(entry.path());
  }
  for (const fs::path& path : unlisted) fs::remove_all(path, ignored);
}

}  // namespace

std::vector<fs::path> checkpoints_in(const fs::path& checkpoints) {
  std::vector<fs::path> all;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(checkpoints, ignored)) {
    if (step_of(entry.path()) && entry.is_directory(ignored)) all.push_back(entry.path());
  }
  std::sort(all.begin(), all.end(),
            [](const fs::path& one, const fs::path& other) { return *step_of(one) < *step_of(other); });
  return all;
}

void tidy(const fs::path& checkpoints, std::uint64_t step, const std::vector<CheckpointFile>& files,
          int keep) {
  remove_unlisted(checkpoints / checkpoint_name(step), files);
  std::vector<fs::path> all = checkpoints_in(checkpoints);
  int kept = 1;  // this one
  for (auto checkpoint = all.rbegin(); checkpoint != all.rend(); ++checkpoint) {
    const std::uint64_t its_step = *step_of(*checkpoint);
    if (its_step == step) continue;
    if (finished(*checkpoint)) {
      if (++kept > keep) remove_checkpoint(*checkpoint);
    } else if (its_step < step) {
      remove_checkpoint(*checkpoint);
    }
  }
}

}  // namespace lockstep::train
