#include "lockstep/models/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"
#include "lockstep/base/json.h"

namespace lockstep::models {
namespace {

using nlohmann::json;
constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMostHeaderBytes = 100'000'000;  // the format's own limit
static_assert(std::endian::native == std::endian::little,
              "values are read and written as they lie in memory");

[[noreturn]] void refuse_safetensors(const std::string& source, const std::string& why) {
  throw base::DataError(fmt::format(
      "'{}' is not a sound safetensors file: {}. It may be truncated; fetch or save it again", source, why));
}

json parse_header(std::string_view text, const std::string& source) {
  const auto refuse_double = [&](const std::string& name) {
    refuse_safetensors(source, fmt::format("the name '{}' appears twice", name));
  };
  try {
    json header = base::parse_json(text, refuse_double);
    if (!header.is_object()) refuse_safetensors(source, "the header is not a JSON object");
    return header;
  } catch (const json::parse_error& error) {
    // Not the library's words: they repeat the bytes, which need not be text.
    refuse_safetensors(source, fmt::format("byte {} of its header is not JSON in UTF-8", error.byte));
  }
}

// The bytes that the shape needs; overflow is refused, also beside a side of zero, where strides overflow.
std::uint64_t bytes_of(const SafetensorsEntry& entry, const std::string& source) {
  std::uint64_t bytes = safetensors_item_bytes(entry.dtype);
  if (bytes == 0)
    refuse_safetensors(source, fmt::format("'{}' has the unknown type '{}'", entry.name, entry.dtype));
  bool empty = false;
  for (const std::int64_t side : entry.shape) {
    empty = empty || side == 0;
    const auto factor = static_cast<std::uint64_t>(std::max<std::int64_t>(side, 1));
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (side < 0 || __builtin_mul_overflow(bytes, factor, &bytes) || bytes > kMost)
      refuse_safetensors(source, fmt::format("'{}' has an impossible shape", entry.name));
  }
  return empty ? 0 : bytes;
}

SafetensorsEntry read_entry(const std::string& name, const json& value, const std::string& source) {
  SafetensorsEntry entry;
  entry.name = name;
  try {
    entry.dtype = value.at("dtype").get<std::string>();
    entry.shape = value.at("shape").get<std::vector<std::int64_t>>();
    const json& offsets = value.at("data_offsets");
    if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
        !offsets[1].is_number_unsigned()) {
      refuse_safetensors(source, fmt::format("'{}' has no two offsets", name));
    }
    entry.begin = offsets[0].get<std::uint64_t>();
    entry.end = offsets[1].get<std::uint64_t>();
  } catch (const json::exception&) {
    refuse_safetensors(
        source, fmt::format("the entry '{}' is no tensor: it wants a dtype, a shape and two offsets", name));
  }
  return entry;
}

// Entries must follow each other without holes or overlaps and end where the file ends.
void check_layout(const SafetensorsHeader& header, std::uint64_t file_bytes, const std::string& source) {
  std::uint64_t at = 0;
  for (const SafetensorsEntry& entry : header.entries) {
    if (entry.begin != at || entry.end < entry.begin || entry.end - entry.begin != bytes_of(entry, source)) {
      refuse_safetensors(
          source,
          fmt::format("the values of '{}' do not lie where its shape and its neighbours say", entry.name));
    }
    at = entry.end;
  }
  if (header.data_offset + at != file_bytes) {
    refuse_safetensors(source, fmt::format("the header asks for {} bytes of values, the file has {}", at,
                                           file_bytes - header.data_offset));
  }
}

void read_metadata(const json& value, SafetensorsHeader& header, const std::string& source) {
  try {
    header.metadata = value.get<std::map<std::string, std::string>>();
  } catch (const json::exception&) {
    refuse_safetensors(source, "__metadata__ is not a map of texts");
  }
}

json entry_json(const SafetensorsEntry& entry) {
  return {{"dtype", entry.dtype}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.end}}};
}

}  // namespace

std::uint64_t safetensors_item_bytes(std::string_view dtype) {
  if (dtype == "F64" || dtype == "I64" || dtype == "U64") return 8;
  if (dtype == "F32" || dtype == "I32" || dtype == "U32") return 4;
  if (dtype == "F16" || dtype == "BF16" || dtype == "I16" || dtype == "U16") return 2;
  if (dtype == "I8" || dtype == "U8" || dtype == "BOOL") return 1;
  return 0;
}

std::uint64_t safetensors_front_bytes(std::span<const std::byte> first_eight, std::uint64_t file_bytes,
                                      const std::string& source) {
  if (first_eight.size() < kLengthBytes || file_bytes < kLengthBytes)
    refuse_safetensors(source, "it is shorter than eight bytes");
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, first_eight.data(), kLengthBytes);
  if (header_bytes > kMostHeaderBytes || header_bytes > file_bytes - kLengthBytes) {
    refuse_safetensors(source, fmt::format("it claims a header of {} bytes", header_bytes));
  }
  return kLengthBytes + header_bytes;
}

SafetensorsHeader parse_safetensors(std::span<const std::byte> front, std::uint64_t file_bytes,
                                    const std::string& source) {
  SafetensorsHeader header;
  header.data_offset = safetensors_front_bytes(front, file_bytes, source);
  if (front.size() < header.data_offset) refuse_safetensors(source, "its header is cut off");
  const std::string_view text(reinterpret_cast<const char*>(front.data()) + kLengthBytes,
                              header.data_offset - kLengthBytes);
  const json parsed = parse_header(text, source);
  for (const auto& [name, value] : parsed.items()) {
    if (name == "__metadata__") {
      read_metadata(value, header, source);
    } else {
      header.entries.push_back(read_entry(name, value, source));
    }
  }
  std::sort(header.entries.begin(), header.entries.end(),
            [](const SafetensorsEntry& one, const SafetensorsEntry& other) {
              return std::pair(one.begin, one.end) < std::pair(other.begin, other.end);
            });
  check_layout(header, file_bytes, source);
  return header;
}

std::string format_safetensors_front(std::vector<SafetensorsEntry>& entries,
                                     const std::map<std::string, std::string>& metadata) {
  json header = json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t at = 0;
  for (SafetensorsEntry& entry : entries) {
    entry.begin = at;
    entry.end = at += bytes_of(entry, "the weights to save");
    header[entry.name] = entry_json(entry);
  }
  std::string text = base::json_text(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), kLengthBytes) + text;
}

}  // namespace lockstep::models
