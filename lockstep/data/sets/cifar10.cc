// CIFAR-10, binary version: files of 10,000 records, each one label byte and 3x32x32 bytes of planes.
//
// A file that was cut between two records looks whole, so their number is checked. Who made a subset on
// purpose says so in a file beside them, records.txt: the number in each training file, and in the test file.
#include <fmt/core.h>

#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/data/files.h"
#include "lockstep/data/sets/sets.h"

namespace lockstep::data {
namespace {

std::vector<std::string> file_names(Split split) {
  if (split == Split::validation) return {"test_batch.bin"};
  return {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"};
}

std::size_t expected_records(const std::filesystem::path& directory, Split split) {
  constexpr std::size_t kPublished = 10000;
  const std::filesystem::path said = directory / "records.txt";
  if (!std::filesystem::exists(said)) return kPublished;
  std::size_t training = 0, test = 0;
  constexpr std::size_t kMost = 1'000'000'000;
  const bool read = static_cast<bool>(std::ifstream(said) >> training >> test);
  if (!read || training == 0 || test == 0 || training > kMost || test > kMost)
    throw base::DataError(
        fmt::format("{}: it does not say how many records a training file and the test file have, as in "
                    "\"4000 5000\". Correct or remove it.",
                    said.string()));
  return split == Split::train ? training : test;
}

// Appends the records of one file.
void read_records(const std::filesystem::path& name, std::size_t expected, const ImageShape& shape,
                  std::vector<std::uint8_t>& pixels, SampleSet& set) {
  const std::filesystem::path file = stored_file(name);
  const std::size_t record_bytes = 1 + shape.elements();
  const Bytes bytes = read_maybe_gzip(name, (expected + 1) * record_bytes);
  if (bytes.empty() || bytes.size() % record_bytes != 0) {
    throw base::DataError(
        fmt::format("{}: its {} bytes are not a whole number of records of {} bytes: it is truncated or "
                    "not a CIFAR-10 binary file. Get it again.",
                    file.string(), bytes.size(), record_bytes));
  }
  if (const std::size_t records = bytes.size() / record_bytes; records != expected) {
    throw base::DataError(fmt::format(
        "{}: it has {} records and should have {}: it is truncated or of another set. Get it "
        "again; a subset made on purpose says its numbers in records.txt beside it (docs/data.md).",
        file.string(), records, expected));
  }
  pixels.reserve(pixels.size() + bytes.size());
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
  const std::vector<std::string> names = file_names(request.split);
  const std::size_t records = expected_records(request.directory, request.split);
  SampleSet set;
  set.classes = request.entry->classes;
  set.class_names = {"airplane", "automobile", "bird",  "cat",  "deer",
                     "dog",      "frog",       "horse", "ship", "truck"};
  std::vector<std::uint8_t> pixels;
  for (const std::string& name : names)
    read_records(request.directory / name, records, request.entry->shape, pixels, set);
  set.images = ImageStore(request.entry->shape, std::move(pixels));
  return set;
}

}  // namespace lockstep::data
