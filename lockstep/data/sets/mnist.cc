// MNIST and Fashion-MNIST: IDX files, raw or gzip, 28x28 grey images in ten classes.
#include <fmt/core.h>

#include "lockstep/base/error.h"
#include "lockstep/data/files.h"
#include "lockstep/data/idx.h"
#include "lockstep/data/sets/sets.h"

namespace lockstep::data {
namespace {

std::vector<std::string> class_names(std::string_view set) {
  if (set == "mnist") return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  return {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
          "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
}

void check_shape(const IdxArray& images, const ImageShape& shape, const std::string& name) {
  const auto height = static_cast<std::uint32_t>(shape.height);
  const auto width = static_cast<std::uint32_t>(shape.width);
  if (images.dimensions[1] == height && images.dimensions[2] == width) return;
  throw base::DataError(fmt::format("{}: its images are {}x{}, not {}x{}. Check that it is the right file.",
                                    name, images.dimensions[1], images.dimensions[2], height, width));
}

}  // namespace

void check_labels(const SampleSet& set, const std::string& name) {
  for (std::size_t i = 0; i < set.labels.size(); ++i) {
    if (set.labels[i] >= 0 && set.labels[i] < set.classes) continue;
    throw base::DataError(
        fmt::format("{}: sample {} has label {}, and there are {} classes (0 to {}). Get the file again.",
                    name, i, set.labels[i], set.classes, set.classes - 1));
  }
}

SampleSet load_mnist(const SetRequest& request) {
  const std::string prefix = request.split == Split::train ? "train" : "t10k";
  const auto image_file = stored_file(request.directory / (prefix + "-images-idx3-ubyte"));
  const auto label_file = stored_file(request.directory / (prefix + "-labels-idx1-ubyte"));
  IdxArray images = read_idx(image_file, 3);
  const IdxArray labels = read_idx(label_file, 1);
  check_shape(images, request.entry->shape, image_file.string());
  if (images.dimensions[0] != labels.dimensions[0]) {
    throw base::DataError(
        fmt::format("{} has {} images and {} has {} labels. They are not from the same set.",
                    image_file.string(), images.dimensions[0], label_file.string(), labels.dimensions[0]));
  }
  SampleSet set;
  set.images = ImageStore(request.entry->shape, std::move(images.elements));
  set.labels.assign(labels.elements.begin(), labels.elements.end());
  set.classes = request.entry->classes;
  set.class_names = class_names(request.entry->name);
  check_labels(set, label_file.string());
  return set;
}

}  // namespace lockstep::data
