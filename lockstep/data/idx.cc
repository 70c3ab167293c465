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

}  // namespace

IdxArray parse_idx(Bytes bytes, std::size_t rank, const std::string& name) {
  check_magic(bytes, rank, name);
  const std::size_t header_bytes = 4 + 4 * rank;
  if (bytes.size() < header_bytes) refuse_idx(name, "its header is truncated");
  IdxArray array;
  __extension__ unsigned __int128 elements = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    array.dimensions.push_back(big_endian(bytes, 4 + 4 * i));
    elements *= array.dimensions.back();
  }
  if (elements == 0) refuse_idx(name, "one of its dimensions is zero");
  const std::size_t held = bytes.size() - header_bytes;
  if (elements != held) {
    const auto promised = elements > UINT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(elements);
    refuse_idx(name, fmt::format("its header promises {} elements and it holds {}: {}", promised, held,
                                 elements > held ? "it is truncated" : "something follows them"));
  }
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header_bytes));
  array.elements = std::move(bytes);
  return array;
}

IdxArray read_idx(const std::filesystem::path& file, std::size_t rank) {
  return parse_idx(read_maybe_gzip(file), rank, file.string());
}

}  // namespace lockstep::data
