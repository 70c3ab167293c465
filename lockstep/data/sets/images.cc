// A directory of photographs for restoration. Every sixth one, in the order of names, is for validation.
#include <fmt/core.h>

#include "lockstep/base/error.h"
#include "lockstep/data/files.h"
#include "lockstep/data/sets/sets.h"

namespace lockstep::data {
namespace {

constexpr std::size_t kPhotosPerValidation = 6;

bool photo_belongs(std::size_t photo, Split split) {
  return (photo % kPhotosPerValidation == kPhotosPerValidation - 1) == (split == Split::validation);
}

Image read_photo(const std::filesystem::path& file, const ImageShape& patch) {
  Image photo = read_image(file);
  if (photo.shape.height < patch.height || photo.shape.width < patch.width) {
    throw base::DataError(
        fmt::format("{} is {}x{}, smaller than a patch of {}x{}. Remove it, or lower image_size.",
                    file.string(), photo.shape.height, photo.shape.width, patch.height, patch.width));
  }
  return photo;
}

}  // namespace

SampleSet load_images(const SetRequest& request) {
  const auto files = image_files(request.directory);
  if (files.size() < kPhotosPerValidation) {
    throw base::DataError(
        fmt::format("{} holds {} PNG or JPEG images; at least {} are needed, one of which is kept for "
                    "validation.",
                    request.directory.string(), files.size(), kPhotosPerValidation));
  }
  SampleSet set;
  set.task = record::Task::restoration;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (photo_belongs(i, request.split)) set.images.add(read_photo(files[i], request.input));
  }
  add_patch_grid(set, request.input.height, request.input.width);
  return set;
}

}  // namespace lockstep::data
