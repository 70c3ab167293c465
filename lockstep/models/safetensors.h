// The safetensors format: a u64 length, a JSON header of that length ({name: {dtype, shape, data_offsets}}),
// then raw little-endian values without holes. Torch-free; weights.h puts tensors on top.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::models {

struct SafetensorsEntry {
  std::string name;
  std::string dtype;  // "F32", "F64", "BF16", "F16", "I64", ...
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // byte offsets behind the header
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;        // in the order of their data
  std::map<std::string, std::string> metadata;  // free text
  std::uint64_t data_offset = 0;                // where the values start in the file
};

// Bytes of one value; 0 for a type the format does not have.
std::uint64_t safetensors_item_bytes(std::string_view dtype);

// The header of a file that is `file_bytes` long, of which the front is given (the length and the whole
// header at least). Everything is checked: lengths, JSON, types, shapes against byte counts, offsets against
// the file, holes, overlaps, double names. Throws DataError that names the source and the entry.
SafetensorsHeader parse_safetensors(std::span<const std::byte> front, std::uint64_t file_bytes,
                                    const std::string& source);

// How many bytes of front parse_safetensors needs, from the first eight. Throws DataError when that is
// absurd.
std::uint64_t safetensors_front_bytes(std::span<const std::byte> first_eight, std::uint64_t file_bytes,
                                      const std::string& source);

// The length and the header (padded with spaces to a multiple of 8); offsets of the entries are filled in
// from their shapes, in order.
std::string format_safetensors_front(std::vector<SafetensorsEntry>& entries,
                                     const std::map<std::string, std::string>& metadata);

}  // namespace lockstep::models
