// CIFAR-10, binary version: files of 10,000 records, each one label byte and 3x32x32 bytes of planes.
#include <fmt/core.h>

#include "lockstep/base/error.h"
#include "lockstep/data/files.h"
#include "lockstep/data/sets/sets.h"

namespace lockstep::data {
namespace {

std::vector<std::string> file_names(Split split) {
  if (split == Split::validation) return {"test_batch.bin"};
  return {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"};
}

// Appends the records of one file.
void read_records(const std::filesystem::path& file, const ImageShape& shape,
                  std::vector<std::uint8_t>& pixels, SampleSet& set) {
  const Bytes bytes = read_maybe_gzip(file);
  const std::size_t record_bytes = 1 + shape.elements();
  if (bytes.empty() || bytes.size() % record_bytes != 0) {
    throw base::DataError(
        fmt::format("{}: its {} bytes are not a whole number of records of {} bytes: it is truncated or "
                    "not a CIFAR-10 binary file. Get it again.",
                    file.string(), bytes.size(), record_bytes));
  }
  for (std::size_t at = 0; at < bytes.size(); at += record_bytes) {
    const std::uint8_t label = bytes[at];
    if (label >= set.classes) {
      throw base::DataError(
          fmt::format("{}: record {} has label {}, and there are {} classes (0 to {}). Get the file again.",
                      file.string(), at / record_bytes, label, set.classes, set.classes - 1));
    }
    set.labels.push_back(label);
    const auto image = bytes.begin() + static_cast<std::ptrdiff_t>(at) + 1;
    pixels.insert(pixels.end(), image, image + static_cast<std::ptrdiff_t>(shape.elements()));
  }
}

}  // namespace

SampleSet load_cifar10(const SetRequest& request) {
  constexpr std::size_t kUsualRecords = 50000;
  SampleSet set;
  set.classes = request.entry->classes;
  set.class_names = {"airplane", "automobile", "bird",  "cat",  "deer",
                     "dog",      "frog",       "horse", "ship", "truck"};
  std::vector<std::uint8_t> pixels;
  if (request.split == Split::train) pixels.reserve(kUsualRecords * request.entry->shape.elements());
  for (const std::string& name : file_names(request.split)) {
    read_records(request.directory / name, request.entry->shape, pixels, set);
  }
  set.images = ImageStore(request.entry->shape, std::move(pixels));
  return set;
}

}  // namespace lockstep::data
