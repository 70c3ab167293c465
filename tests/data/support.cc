// What support.h declares.
#include "tests/data/support.h"

#include <png.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <jpeglib.h>

namespace lockstep::data {
namespace {

namespace fs = std::filesystem;

Bytes interleaved(const Image& image) {
  Bytes out(3 * image.shape.pixels());
  for (std::size_t i = 0; i < image.shape.pixels(); ++i) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      out[3 * i + channel] = image.pixels[channel * image.shape.pixels() + i];
    }
  }
  return out;
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (fs::temp_directory_path() / "lockstep_data_XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed: " + base::errno_text());
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void write_bytes(const fs::path& file, const Bytes& bytes) {
  fs::create_directories(file.parent_path());
  std::ofstream stream(file, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void write_text(const fs::path& file, const std::string& text) {
  write_bytes(file, Bytes(text.begin(), text.end()));
}

Bytes gzip(const Bytes& bytes) {
  z_stream stream{};
  deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  Bytes out(deflateBound(&stream, bytes.size()) + 64);
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

Bytes idx_bytes(const std::vector<std::uint32_t>& dimensions, const Bytes& elements) {
  Bytes bytes = {0, 0, 8, static_cast<std::uint8_t>(dimensions.size())};
  for (const std::uint32_t dimension : dimensions) {
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<std::uint8_t>(dimension >> shift));
  }
  bytes.insert(bytes.end(), elements.begin(), elements.end());
  return bytes;
}

Image make_image(ImageShape shape, const std::function<int(int, int, int)>& pixel) {
  Image image{shape, {}};
  for (int channel = 0; channel < shape.channels; ++channel) {
    for (int y = 0; y < shape.height; ++y) {
      for (int x = 0; x < shape.width; ++x)
        image.pixels.push_back(static_cast<std::uint8_t>(pixel(channel, y, x)));
    }
  }
  return image;
}

Bytes png_bytes(const Image& image) {
  png_image description{};
  description.version = PNG_IMAGE_VERSION;
  description.width = static_cast<png_uint_32>(image.shape.width);
  description.height = static_cast<png_uint_32>(image.shape.height);
  description.format = PNG_FORMAT_RGB;
  const Bytes pixels = interleaved(image);
  png_alloc_size_t size = 3 * pixels.size() + 4096;
  Bytes out(size);
  png_image_write_to_memory(&description, out.data(), &size, 0, pixels.data(), 0, nullptr);
  out.resize(size);
  return out;
}

Bytes jpeg_bytes(const Image& image) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = static_cast<JDIMENSION>(image.shape.width);
  info.image_height = static_cast<JDIMENSION>(image.shape.height);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 95, TRUE);
  info.comp_info[0].h_samp_factor = info.comp_info[0].v_samp_factor = 1;  // colours at full resolution
  jpeg_start_compress(&info, TRUE);
  Bytes pixels = interleaved(image);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = pixels.data() + std::size_t{3} * info.image_width * info.next_scanline;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  Bytes out(memory, memory + size);
  jpeg_destroy_compress(&info);
  std::free(memory);
  return out;
}

SampleSet numbered_set(std::size_t count, ImageShape shape, int classes) {
  SampleSet set;
  set.origin = "a test's set";
  set.classes = classes;
  std::vector<std::uint8_t> pixels(count * shape.elements());
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<std::uint8_t>(i * 7 + i / shape.elements());
  set.images = ImageStore(shape, std::move(pixels));
  for (std::size_t i = 0; i < count; ++i) set.labels.push_back(static_cast<std::int64_t>(i) % classes);
  return set;
}

std::string data_complaint(const std::function<void()>& action) {
  try {
    action();
  } catch (const base::DataError& error) {
    return error.what();
  }
  return "(no complaint)";
}

}  // namespace lockstep::data
