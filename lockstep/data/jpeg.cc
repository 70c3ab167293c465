// JPEG through libjpeg-turbo's own interface.
#include <fmt/core.h>
#include <turbojpeg.h>

#include <memory>
#include <string_view>

#include "lockstep/base/error.h"
#include "lockstep/data/image.h"

namespace lockstep::data {
namespace {

constexpr std::size_t kMostPixels = std::size_t{1} << 27;

struct CloseDecoder {
  void operator()(void* handle) const { tjDestroy(handle); }
};
using Decoder = std::unique_ptr<void, CloseDecoder>;

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
  throw base::DataError(
      fmt::format("{}: the JPEG image {}. Replace it, or remove it from the set.", name, what));
}

// A decoder goes on after a warning. A stream that ends early leaves the rest grey: that is an error here.
bool is_harmless(Decoder& decoder) {
  const bool warning = tjGetErrorCode(decoder.get()) == TJERR_WARNING;
  return warning &&
         std::string_view(tjGetErrorStr2(decoder.get())).find("remature") == std::string_view::npos;
}

}  // namespace

Image decode_jpeg(std::span<const std::uint8_t> bytes, const std::string& name) {
  Decoder decoder(tjInitDecompress());
  if (!decoder) throw std::bad_alloc();
  int width = 0, height = 0, subsampling = 0, colours = 0;
  if (tjDecompressHeader3(decoder.get(), bytes.data(), bytes.size(), &width, &height, &subsampling,
                          &colours) != 0) {
    refuse(name, fmt::format("has a bad header ({})", tjGetErrorStr2(decoder.get())));
  }
  const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  if (pixels > kMostPixels) refuse(name, fmt::format("is too large ({}x{})", width, height));
  std::vector<std::uint8_t> interleaved(3 * pixels);
  const int failed = tjDecompress2(decoder.get(), bytes.data(), bytes.size(), interleaved.data(), width, 0,
                                   height, TJPF_RGB, TJFLAG_ACCURATEDCT);
  if (failed != 0 && !is_harmless(decoder)) {
    refuse(name, fmt::format("is damaged or truncated ({})", tjGetErrorStr2(decoder.get())));
  }
  return planes_of(interleaved, height, width);
}

}  // namespace lockstep::data
