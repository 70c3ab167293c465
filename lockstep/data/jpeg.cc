// JPEG through libjpeg (in practice libjpeg-turbo), whose errors jump: everything that owns memory lives
// outside the function that is jumped out of.
#include <fmt/core.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>

#include <jerror.h>

#include "lockstep/base/error.h"
#include "lockstep/data/image.h"

namespace lockstep::data {
namespace {

struct Trouble {
  jpeg_error_mgr manager;  // first: libjpeg hands back a pointer to it
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void jump_out(j_common_ptr info) {
  auto* trouble = reinterpret_cast<Trouble*>(info->err);
  info->err->format_message(info, trouble->message);
  std::longjmp(trouble->jump, 1);
}

// libjpeg goes on after a warning. A stream that ends early leaves the rest grey: that is an error here.
void judge_message(j_common_ptr info, int level) {
  const int code = info->err->msg_code;
  const bool ends_early = code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER;
  if (level < 0 && ends_early) jump_out(info);
}

// Owns libjpeg's state; cleans up on every way out.
class Decoder {
 public:
  Decoder() {
    info_.err = jpeg_std_error(&trouble_.manager);
    trouble_.manager.error_exit = jump_out;
    trouble_.manager.emit_message = judge_message;
    trouble_.message[0] = '\0';
  }
  ~Decoder() { jpeg_destroy_decompress(&info_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // Reads the header and starts decoding to three bytes a pixel.
  bool begin(std::span<const std::uint8_t> bytes) {
    if (setjmp(trouble_.jump) != 0) return false;
    jpeg_create_decompress(&info_);
    jpeg_mem_src(&info_, const_cast<unsigned char*>(bytes.data()), static_cast<unsigned long>(bytes.size()));
    jpeg_read_header(&info_, TRUE);
    info_.out_color_space = JCS_RGB;
    jpeg_calc_output_dimensions(&info_);
    return true;
  }

  bool read_pixels(std::uint8_t* out) {
    if (setjmp(trouble_.jump) != 0) return false;
    jpeg_start_decompress(&info_);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = out + std::size_t{3} * info_.output_width * info_.output_scanline;
      jpeg_read_scanlines(&info_, &row, 1);
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

  // Huffman's code spends a bit on each block of 8x8 values, and between two components that are sampled
  // coarsely, each in its own direction, a block stands for 128 pixels.
  std::size_t most_pixels(std::size_t bytes) const {
    constexpr std::size_t kPixelsPerByte = 8 * 128;
    return info_.arith_code ? kMostPixels : std::min(kMostPixels, bytes * kPixelsPerByte);
  }
  int width() const { return static_cast<int>(info_.output_width); }
  int height() const { return static_cast<int>(info_.output_height); }
  const char* message() const { return trouble_.message; }

 private:
  jpeg_decompress_struct info_{};
  Trouble trouble_{};
};

[[noreturn]] void refuse_jpeg(const std::string& name, const std::string& what) {
  throw base::DataError(
      fmt::format("{}: the JPEG image {}. Replace it, or remove it from the set.", name, what));
}

}  // namespace

Image decode_jpeg(std::span<const std::uint8_t> bytes, const std::string& name) {
  Decoder decoder;
  if (!decoder.begin(bytes)) refuse_jpeg(name, fmt::format("has a bad header ({})", decoder.message()));
  const std::size_t pixels =
      static_cast<std::size_t>(decoder.width()) * static_cast<std::size_t>(decoder.height());
  if (pixels > decoder.most_pixels(bytes.size()))
    refuse_jpeg(name, fmt::format("is too large for its {} bytes ({}x{})", bytes.size(), decoder.width(),
                                  decoder.height()));
  std::vector<std::uint8_t> interleaved(3 * pixels);
  if (!decoder.read_pixels(interleaved.data())) {
    refuse_jpeg(name, fmt::format("is damaged or truncated ({})", decoder.message()));
  }
  return planes_of(interleaved, decoder.height(), decoder.width());
}

}  // namespace lockstep::data
