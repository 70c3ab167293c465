#include "lockstep/data/get/unpack.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "lockstep/base/error.h"

namespace lockstep::data {
namespace {

// A tar archive is a row of 512-byte blocks: a header, then the file's content padded to whole blocks.
constexpr std::size_t kBlockBytes = 512;

using Block = std::span<const std::uint8_t>;

std::string text_at(Block header, std::size_t at, std::size_t length) {
  const auto* begin = reinterpret_cast<const char*>(header.data()) + at;
  return std::string(begin, std::find(begin, begin + length, '\0'));
}

// Octal digits, led by spaces or zeros and ended by a space or a zero byte.
std::size_t octal_at(Block header, std::size_t at, std::size_t length) {
  std::size_t value = 0;
  for (const char digit : text_at(header, at, length)) {
    if (digit >= '0' && digit <= '7') value = value * 8 + static_cast<std::size_t>(digit - '0');
  }
  return value;
}

// The sum of the header's bytes, its own field counting as spaces.
bool checksum_holds(Block header) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < kBlockBytes; ++i) sum += i >= 148 && i < 156 ? std::size_t{' '} : header[i];
  return sum == octal_at(header, 148, 8);
}

std::string path_of(Block header) {
  const std::string prefix = text_at(header, 345, 155);
  const std::string name = text_at(header, 0, 100);
  const bool has_prefix = text_at(header, 257, 5) == "ustar" && !prefix.empty();
  return has_prefix ? prefix + "/" + name : name;
}

bool is_regular(Block header) {
  const std::uint8_t kind = header[156];
  return kind == '0' || kind == 0;
}

}  // namespace

std::span<const std::uint8_t> find_in_tar(std::span<const std::uint8_t> archive, const std::string& path,
                                          const std::string& archive_name) {
  const auto refuse = [&](const std::string& what) {
    throw base::DataError(fmt::format("{}: {}. Get it again.", archive_name, what));
  };
  for (std::size_t at = 0; at + kBlockBytes <= archive.size();) {
    const Block header = archive.subspan(at, kBlockBytes);
    if (header[0] == 0) break;  // the end is marked by empty blocks
    if (!checksum_holds(header)) refuse("the archive is damaged");
    const std::size_t size = octal_at(header, 124, 12);
    at += kBlockBytes;
    if (size > archive.size() - at) refuse("the archive is truncated");
    if (is_regular(header) && path_of(header) == path) return archive.subspan(at, size);
    at += (size + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
  }
  refuse(fmt::format("the archive has no file {}", path));
  return {};
}

}  // namespace lockstep::data
