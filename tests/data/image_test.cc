#include "lockstep/data/image.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>

#include "lockstep/data/resampler.h"
#include "tests/data/support.h"

namespace lockstep::data {
namespace {

using ::testing::HasSubstr;

Image colourful(int height, int width) {
  return make_image({3, height, width},
                    [](int channel, int y, int x) { return 40 * channel + 3 * y + 2 * x; });
}

TEST(Png, comes_back_exactly) {
  const Image image = colourful(13, 17);
  const Image read = decode_image(png_bytes(image), "a.png");
  EXPECT_EQ(read.shape, image.shape);
  EXPECT_EQ(read.pixels, image.pixels);
}

TEST(Jpeg, comes_back_nearly) {
  const Image image = colourful(16, 24);
  const Image read = decode_image(jpeg_bytes(image), "a.jpg");
  ASSERT_EQ(read.shape, image.shape);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) EXPECT_NEAR(read.pixels[i], image.pixels[i], 6);
}

TEST(ImageFile, cut_anywhere_is_refused) {
  const auto noisy = make_image(
      {3, 40, 40}, [](int channel, int y, int x) { return (channel * 91 + y * 57 + x * 83) % 256; });
  for (const Bytes& whole : {png_bytes(noisy), jpeg_bytes(noisy)}) {
    for (const double part : {0.0, 0.001, 0.1, 0.5, 0.9}) {
      const auto length = static_cast<std::ptrdiff_t>(part * static_cast<double>(whole.size()));
      const Bytes cut(whole.begin(), whole.begin() + length);
      EXPECT_THAT(data_complaint([&] { decode_image(cut, "cut"); }), HasSubstr("cut: ")) << part;
    }
  }
}

TEST(ImageFile, that_is_no_image_is_refused) {
  EXPECT_THAT(data_complaint([] {
                decode_image(Bytes{'G', 'I', 'F', '8'}, "a.gif");
              }),
              HasSubstr("neither a PNG nor a JPEG"));
}

void put_big_endian(Bytes& bytes, std::size_t at, std::uint32_t value, int width) {
  for (int i = width - 1; i >= 0; --i, value >>= 8) bytes[at + static_cast<std::size_t>(i)] = value & 0xff;
}

TEST(ImageFile, that_claims_more_pixels_than_its_bytes_can_hold_is_refused_before_they_are_allocated) {
  Bytes png = png_bytes(colourful(8, 8));
  put_big_endian(png, 16, 11000, 4), put_big_endian(png, 20, 11000, 4);
  put_big_endian(png, 29, static_cast<std::uint32_t>(crc32(0, png.data() + 12, 17)), 4);
  EXPECT_THAT(data_complaint([&] { decode_image(png, "a.png"); }),
              HasSubstr("is too large for its " + std::to_string(png.size()) + " bytes (11000x11000)"));

  Bytes jpeg = jpeg_bytes(colourful(8, 8));
  const Bytes frame = {0xff, 0xc0};
  const auto at = std::search(jpeg.begin(), jpeg.end(), frame.begin(), frame.end()) - jpeg.begin();
  put_big_endian(jpeg, static_cast<std::size_t>(at) + 5, 11000, 2);
  put_big_endian(jpeg, static_cast<std::size_t>(at) + 7, 11000, 2);
  EXPECT_THAT(data_complaint([&] { decode_image(jpeg, "a.jpg"); }),
              HasSubstr("is too large for its " + std::to_string(jpeg.size()) + " bytes (11000x11000)"));
}

TEST(ImageFile, of_one_colour_and_a_million_pixels_is_read) {
  const Image white = make_image({3, 1000, 1000}, [](int, int, int) { return 255; });
  EXPECT_EQ(decode_image(png_bytes(white), "white.png").shape, white.shape);
  EXPECT_EQ(decode_image(jpeg_bytes(white), "white.jpg").shape, white.shape);
}

TEST(Resize, keeps_a_constant_image_constant) {
  const Image image = make_image({1, 28, 28}, [](int, int, int) { return 77; });
  for (const int side : {7, 27, 28, 29, 64}) {
    for (const std::uint8_t pixel : resized(image, side, side).pixels) ASSERT_EQ(pixel, 77) << side;
  }
}

TEST(Resize, doubles_between_pixel_centres) {
  const Image image = make_image({1, 1, 2}, [](int, int, int x) { return x * 100; });
  EXPECT_EQ(resized(image, 1, 4).pixels, (std::vector<std::uint8_t>{0, 25, 75, 100}));
}

TEST(Resize, averages_when_it_reduces) {
  const Image stripes = make_image({1, 8, 8}, [](int, int, int x) { return x % 2 == 0 ? 0 : 200; });
  for (const std::uint8_t pixel : resized(stripes, 2, 2).pixels) EXPECT_NEAR(pixel, 100, 15);
}

TEST(Resize, keeps_a_ramp_a_ramp) {
  const Image ramp = make_image({1, 4, 28}, [](int, int, int x) { return 4 * x; });
  const Image wide = resized(ramp, 4, 56);
  for (int x = 2; x < 54; ++x)
    EXPECT_NEAR(wide.pixels[static_cast<std::size_t>(x)], 4 * ((x + 0.5) / 2 - 0.5), 0.51) << x;
}

}  // namespace
}  // namespace lockstep::data
