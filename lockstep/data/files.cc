#include "lockstep/data/files.h"

#include <fmt/core.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/base/units.h"

namespace lockstep::data {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_gzip(const std::string& name, const std::string& what) {
  throw base::DataError(fmt::format("{}: {}. Get the file again.", name, what));
}

std::uint64_t memory_of_machine() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
}

class Inflater {
 public:
  Inflater(std::span<const std::uint8_t> packed, const std::string& name) : name_(name) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
    stream_.next_in = const_cast<Bytef*>(packed.data());
    stream_.avail_in = static_cast<uInt>(packed.size());
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Appends the next piece. False: that was the last one.
  bool next(Bytes& out) {
    constexpr std::size_t kPieceBytes = std::size_t{1} << 18;
    const std::size_t before = out.size();
    out.resize(before + kPieceBytes);
    stream_.next_out = out.data() + before;
    stream_.avail_out = kPieceBytes;
    const int answer = inflate(&stream_, Z_NO_FLUSH);
    out.resize(before + kPieceBytes - stream_.avail_out);
    const bool packed_left = stream_.avail_in > 0;
    if (answer == Z_STREAM_END) {
      if (packed_left) inflateReset(&stream_);  // another member follows
      return packed_left;
    }
    if (answer != Z_OK && answer != Z_BUF_ERROR) {
      refuse_gzip(name_, fmt::format("the gzip stream is corrupted ({})",
                                     stream_.msg != nullptr ? stream_.msg : "damaged"));
    }
    if (!packed_left && out.size() == before) refuse_gzip(name_, "the gzip stream is truncated");
    return true;
  }

 private:
  z_stream stream_{};
  const std::string& name_;
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
  if (size > memory_of_machine()) {
    throw base::DataError(
        fmt::format("{}: its {} are more than this machine has memory. Check that it is the right file.",
                    file.string(), base::format_bytes(size)));
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

Bytes gunzip(std::span<const std::uint8_t> packed, const std::string& name, std::uint64_t most) {
  Inflater inflater(packed, name);
  Bytes out;
  most = std::min(most, memory_of_machine());
  bool more = true;
  while (more) {
    more = inflater.next(out);
    if (out.size() > most)
      refuse_gzip(name, fmt::format("it unpacks to more than the {} bytes that it may have", most));
  }
  return out;
}

Bytes gunzip_front(std::span<const std::uint8_t> packed, const std::string& name, std::size_t count) {
  Inflater inflater(packed, name);
  Bytes out;
  while (out.size() < count && inflater.next(out)) {
  }
  out.resize(std::min(out.size(), count));
  return out;
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

Bytes read_maybe_gzip(const fs::path& file, std::uint64_t most) {
  const fs::path found = stored_file(file);
  Bytes bytes = read_file(found);
  return is_gzip(bytes) ? gunzip(bytes, found.string(), most) : bytes;
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
