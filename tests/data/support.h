// What the data tests make: directories that vanish, small files in every format, and sets with known
// content.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>

#include "lockstep/base/error.h"
#include "lockstep/data/data_set.h"
#include "lockstep/data/files.h"

namespace lockstep::data {

class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

void write_bytes(const std::filesystem::path& file, const Bytes& bytes);
void write_text(const std::filesystem::path& file, const std::string& text);
Bytes gzip(const Bytes& bytes);

// A whole IDX file: type 8, the dimensions, then the elements.
Bytes idx_bytes(const std::vector<std::uint32_t>& dimensions, const Bytes& elements);

// An image whose pixel at (channel, y, x) is given by a function.
Image make_image(ImageShape shape, const std::function<int(int, int, int)>& pixel);
Bytes png_bytes(const Image& image);
Bytes jpeg_bytes(const Image& image);

// `count` samples of one shape; label i % classes; the pixels of sample i depend on i and on their place.
SampleSet numbered_set(std::size_t count, ImageShape shape, int classes = 10);

// The message of the DataError that the action throws, or a note that it threw none.
std::string data_complaint(const std::function<void()>& action);

}  // namespace lockstep::data
