// Reading data files whole. Every failure is a DataError that names the file and the next step. However a
// file was made, it takes no more memory than it has content, and never more than the machine has.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace lockstep::data {

using Bytes = std::vector<std::uint8_t>;

Bytes read_file(const std::filesystem::path& file);

bool is_gzip(std::span<const std::uint8_t> bytes);
// Unpacks one or more gzip members. A truncated or corrupted stream is refused, and one of more than `most`
// bytes as soon as it has given those; `name` leads the message.
Bytes gunzip(std::span<const std::uint8_t> packed, const std::string& name, std::uint64_t most);
// Its first bytes: as many as asked for, or as there are.
Bytes gunzip_front(std::span<const std::uint8_t> packed, const std::string& name, std::size_t count);

// What a byte that deflate packed can at most become: 258 bytes for two bits.
inline constexpr std::uint64_t kMostInflated = 1032;

// `file` itself or with .gz appended, whichever is there; DataError where neither is.
std::filesystem::path stored_file(const std::filesystem::path& file);
// The content of stored_file(), unpacked when it is gzip and has no more than `most` bytes then.
Bytes read_maybe_gzip(const std::filesystem::path& file, std::uint64_t most);
bool exists_maybe_gzip(const std::filesystem::path& file);

// Regular files below a directory whose names end like PNG or JPEG images, sorted by path.
std::vector<std::filesystem::path> image_files(const std::filesystem::path& directory);

}  // namespace lockstep::data
