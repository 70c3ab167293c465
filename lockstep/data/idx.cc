#include "lockstep/data/idx.h"

#include <fmt/core.h>

#include "lockstep/base/error.h"

namespace lockstep::data {
namespace {

constexpr std::uint8_t kUnsignedByte = 8;

[[noreturn]] void refuse_idx(const std::string& name, const std::string& what) {
  throw base::DataError(
      fmt::format("{}: {}. Get the file again, or check that it is the right one.", name, what));
}

std::uint32_t big_endian(const Bytes& bytes, std::size_t at) {
  return (std::uint32_t{bytes[at]} << 24) | (std::uint32_t{bytes[at + 1]} << 16) |
         (std::uint32_t{bytes[at + 2]} << 8) | std::uint32_t{bytes[at + 3]};
}

void check_magic(const Bytes& bytes, std::size_t rank, const std::string& name) {
  if (bytes.size() < 4)
    refuse_idx(name, fmt::format("it has {} bytes, too few for an IDX header", bytes.size()));
  if (bytes[0] != 0 || bytes[1] != 0) {
    refuse_idx(name, fmt::format("it is not an IDX file (it begins with {:#010x})", big_endian(bytes, 0)));
  }
  if (bytes[2] != kUnsignedByte)
    refuse_idx(name, fmt::format("its elements are of type {}, not unsigned bytes", bytes[2]));
  if (bytes[3] != rank) {
    refuse_idx(name, fmt::format("it has {} dimensions where {} were expected (images have 3, labels 1)",
                                 bytes[3], rank));
  }
}

__extension__ using Elements = unsigned __int128;  // of dimensions that no file has

std::size_t header_bytes(std::size_t rank) {
  return 4 + 4 * rank;
}

// Appends the dimensions that the header says.
Elements read_header(const Bytes& bytes, std::size_t rank, const std::string& name,
                     std::vector<std::uint32_t>& dimensions) {
  check_magic(bytes, rank, name);
  if (bytes.size() < header_bytes(rank)) refuse_idx(name, "its header is truncated");
  Elements elements = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    dimensions.push_back(big_endian(bytes, 4 + 4 * i));
    elements *= dimensions.back();
  }
  if (elements == 0) refuse_idx(name, "one of its dimensions is zero");
  return elements;
}

std::uint64_t at_most_64_bits(Elements elements) {
  return elements > UINT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(elements);
}

// Unpacked only as far as its header promises.
Bytes unpacked(const Bytes& packed, std::size_t rank, const std::string& name) {
  const Bytes front = gunzip_front(packed, name, header_bytes(rank));
  std::vector<std::uint32_t> dimensions;
  return gunzip(packed, name,
                at_most_64_bits(header_bytes(rank) + read_header(front, rank, name, dimensions)));
}

}  // namespace

IdxArray parse_idx(Bytes bytes, std::size_t rank, const std::string& name) {
  IdxArray array;
  const Elements elements = read_header(bytes, rank, name, array.dimensions);
  const std::size_t held = bytes.size() - header_bytes(rank);
  if (elements != held) {
    refuse_idx(name,
               fmt::format("its header promises {} elements and it holds {}: {}", at_most_64_bits(elements),
                           held, elements > held ? "it is truncated" : "something follows them"));
  }
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header_bytes(rank)));
  array.elements = std::move(bytes);
  return array;
}

IdxArray read_idx(const std::filesystem::path& file, std::size_t rank) {
  Bytes bytes = read_file(file);
  if (is_gzip(bytes)) bytes = unpacked(bytes, rank, file.string());
  return parse_idx(std::move(bytes), rank, file.string());
}

}  // namespace lockstep::data
