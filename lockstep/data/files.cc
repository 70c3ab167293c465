#include "lockstep/data/files.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <fstream>

#include "lockstep/base/error.h"

namespace lockstep::data {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_gzip(const std::string& name, const std::string& what) {
  throw base::DataError(fmt::format("{}: {}. Get the file again.", name, what));
}

class Inflater {
 public:
  explicit Inflater(std::span<const std::uint8_t> packed) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
    stream_.next_in = const_cast<Bytef*>(packed.data());
    stream_.avail_in = static_cast<uInt>(packed.size());
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Appends the next piece; returns zlib's answer.
  int next(Bytes& out) {
    constexpr std::size_t kPieceBytes = std::size_t{1} << 18;
    const std::size_t before = out.size();
    out.resize(before + kPieceBytes);
    stream_.next_out = out.data() + before;
    stream_.avail_out = kPieceBytes;
    const int answer = inflate(&stream_, Z_NO_FLUSH);
    out.resize(before + kPieceBytes - stream_.avail_out);
    return answer;
  }
  bool at_end() const { return stream_.avail_in == 0; }
  void next_member() { inflateReset(&stream_); }
  const char* message() const { return stream_.msg != nullptr ? stream_.msg : "damaged"; }

 private:
  z_stream stream_{};
};

bool has_image_name(const fs::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return extension == ".png" || extension == ".jpg" || extension == ".jpeg";
}

}  // namespace

Bytes read_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::error_code no_size;
  const auto size = fs::file_size(file, no_size);
  if (!stream || no_size) {
    const int cause = stream ? no_size.value() : errno;
    throw base::DataError(fmt::format("{} cannot be read: {}.", file.string(), base::errno_text(cause)));
  }
  Bytes bytes(size);
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (static_cast<std::uintmax_t>(stream.gcount()) != size) {
    throw base::DataError(
        fmt::format("{}: {} of {} bytes could be read. Check the disk, or get the file again.", file.string(),
                    stream.gcount(), size));
  }
  return bytes;
}

bool is_gzip(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

Bytes gunzip(std::span<const std::uint8_t> packed, const std::string& name) {
  Inflater inflater(packed);
  Bytes out;
  while (true) {
    const std::size_t before = out.size();
    const int answer = inflater.next(out);
    if (answer == Z_STREAM_END) {
      if (inflater.at_end()) return out;
      inflater.next_member();
      continue;
    }
    if (answer != Z_OK && answer != Z_BUF_ERROR) {
      refuse_gzip(name, fmt::format("the gzip stream is corrupted ({})", inflater.message()));
    }
    if (inflater.at_end() && out.size() == before) refuse_gzip(name, "the gzip stream is truncated");
  }
}

bool exists_maybe_gzip(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored) || fs::exists(file.string() + ".gz", ignored);
}

fs::path stored_file(const fs::path& file) {
  const fs::path found = fs::exists(file) ? file : fs::path(file.string() + ".gz");
  if (fs::exists(found)) return found;
  throw base::DataError(fmt::format("{} is missing, and so is {}.gz. Put one of them there.", file.string(),
                                    file.filename().string()));
}

Bytes read_maybe_gzip(const fs::path& file) {
  const fs::path found = stored_file(file);
  Bytes bytes = read_file(found);
  return is_gzip(bytes) ? gunzip(bytes, found.string()) : bytes;
}

std::vector<fs::path> image_files(const fs::path& directory) {
  std::error_code failure;
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory, failure)) {
    if (entry.is_regular_file() && has_image_name(entry.path())) files.push_back(entry.path());
  }
  if (failure) {
    throw base::DataError(
        fmt::format("the directory {} cannot be read: {}.", directory.string(), failure.message()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace lockstep::data
