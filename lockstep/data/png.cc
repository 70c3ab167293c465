// PNG through libpng's simplified interface, which turns any kind (grey, palette, 16 bits, alpha) into three
// bytes a pixel.
#include <fmt/core.h>
#include <png.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/data/files.h"
#include "lockstep/data/image.h"

namespace lockstep::data {
namespace {

[[noreturn]] void refuse_png(const std::string& name, const std::string& what) {
  throw base::DataError(
      fmt::format("{}: the PNG image {}. Replace it, or remove it from the set.", name, what));
}

// Frees what libpng keeps between the header and the pixels, on every way out.
class PngImage {
 public:
  PngImage() { image_.version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(&image_); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
  png_image* get() { return &image_; }
  png_image* operator->() { return &image_; }

 private:
  png_image image_{};
};

}  // namespace

Image decode_png(std::span<const std::uint8_t> bytes, const std::string& name) {
  PngImage image;
  if (png_image_begin_read_from_memory(image.get(), bytes.data(), bytes.size()) == 0) {
    refuse_png(name, fmt::format("has a bad header ({})", image->message));
  }
  image->format = PNG_FORMAT_RGB;
  const std::size_t pixels = std::size_t{image->width} * image->height;
  constexpr std::size_t kPixelsPerByte = 8 * kMostInflated;  // of one bit each
  if (pixels > std::min(kMostPixels, bytes.size() * kPixelsPerByte))
    refuse_png(name, fmt::format("is too large for its {} bytes ({}x{})", bytes.size(), image->width,
                                 image->height));
  std::vector<std::uint8_t> interleaved(3 * pixels);
  const png_color black = {0, 0, 0};
  if (png_image_finish_read(image.get(), &black, interleaved.data(), 0, nullptr) == 0) {
    refuse_png(name, fmt::format("is damaged or truncated ({})", image->message));
  }
  return planes_of(interleaved, static_cast<int>(image->height), static_cast<int>(image->width));
}

}  // namespace lockstep::data
