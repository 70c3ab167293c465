// The user's own images: a directory for each class, its name being the class's. PATH/train and PATH/val hold
// them when both exist; else every fifth image of each class, in the order of names, is for validation.
#include <fmt/core.h>

#include <algorithm>

#include "lockstep/base/counted.h"
#include "lockstep/base/error.h"
#include "lockstep/data/files.h"
#include "lockstep/data/sets/sets.h"

namespace lockstep::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kImagesPerValidation = 5;

std::vector<fs::path> directories_in(const fs::path& root) {
  std::error_code failure;
  std::vector<fs::path> directories;
  for (const auto& entry : fs::directory_iterator(root, failure)) {
    if (entry.is_directory()) directories.push_back(entry.path());
  }
  if (failure)
    throw base::DataError(
        fmt::format("the directory {} cannot be read: {}.", root.string(), failure.message()));
  std::sort(directories.begin(), directories.end());
  return directories;
}

std::vector<std::string> names_in(const fs::path& root) {
  std::vector<std::string> names;
  for (const fs::path& directory : directories_in(root)) names.push_back(directory.filename().string());
  if (names.size() < 2) {
    throw base::DataError(fmt::format("{} has {}; one for each class is needed, at least two.", root.string(),
                                      base::counted(std::ssize(names), "directory", "directories")));
  }
  return names;
}

// A class that only validation has could never be learnt, and the labels of the others would shift.
void check_same_classes(const fs::path& root) {
  const auto train = names_in(root / "train");
  for (const std::string& name : names_in(root / "val")) {
    if (std::find(train.begin(), train.end(), name) != train.end()) continue;
    throw base::DataError(fmt::format("{} has the class '{}', and {} has not. Give both the same classes.",
                                      (root / "val").string(), name, (root / "train").string()));
  }
}

std::vector<fs::path> files_of_class(const fs::path& directory, Split split, bool cut) {
  std::vector<fs::path> files = fs::exists(directory) ? image_files(directory) : std::vector<fs::path>();
  if (!cut) return files;
  if (files.size() < 2) {
    throw base::DataError(
        fmt::format("the class {} has {} images; at least two are needed, one of them for validation.",
                    directory.string(), files.size()));
  }
  std::vector<fs::path> kept;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const bool validation = i % kImagesPerValidation == 1;
    if (validation == (split == Split::validation)) kept.push_back(files[i]);
  }
  return kept;
}

}  // namespace

SampleSet load_folder(const SetRequest& request) {
  const fs::path& root = request.directory;
  const bool has_split = fs::is_directory(root / "train") && fs::is_directory(root / "val");
  if (has_split) check_same_classes(root);
  SampleSet set;
  set.class_names = names_in(has_split ? root / "train" : root);
  set.classes = static_cast<int>(set.class_names.size());
  const fs::path parent = !has_split ? root : root / (request.split == Split::train ? "train" : "val");
  std::vector<fs::path> files;
  for (std::size_t label = 0; label < set.class_names.size(); ++label) {
    const auto found = files_of_class(parent / set.class_names[label], request.split, !has_split);
    if (found.empty() && request.split == Split::train) {
      throw base::DataError(
          fmt::format("the class {} has no PNG or JPEG images.", (parent / set.class_names[label]).string()));
    }
    files.insert(files.end(), found.begin(), found.end());
    set.labels.insert(set.labels.end(), found.size(), static_cast<std::int64_t>(label));
  }
  if (files.empty()) throw base::DataError(fmt::format("{} holds no PNG or JPEG images.", parent.string()));
  set.images = read_resized(files, request.input.height, request.input.width);
  return set;
}

}  // namespace lockstep::data
