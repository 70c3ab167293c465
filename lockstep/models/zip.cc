#include "lockstep/models/zip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>

#include "lockstep/base/error.h"
#include "lockstep/base/printable.h"

namespace lockstep::models {
namespace {

// Sizes of the format's structures, without what follows them.
constexpr std::uint64_t kEndBytes = 22, kEnd64Bytes = 56, kLocatorBytes = 20, kEntryBytes = 46,
                        kHeaderBytes = 30, kLongestComment = 0xffff;
constexpr std::uint32_t kIn64Bits = 0xffffffff;  // the value stands in the entry's extra field
constexpr std::uint16_t kAsItIs = 0;             // the other ways to store a record compress it
constexpr std::uint64_t kMostDirectoryBytes = 64 << 20;

template <class Number>
Number number_at(std::string_view bytes, std::size_t at) {
  Number value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

// Reads the numbers of an entry's 64-bit extra field, one after the other. Where there is none left, nothing.
class Wide {
 public:
  explicit Wide(std::string_view extra) {
    constexpr std::uint16_t kKind = 1;
    while (extra.size() >= 4) {
      const auto kind = number_at<std::uint16_t>(extra, 0);
      const std::size_t bytes = std::min<std::size_t>(number_at<std::uint16_t>(extra, 2), extra.size() - 4);
      if (kind == kKind) left_ = extra.substr(4, bytes);
      extra.remove_prefix(4 + bytes);
    }
  }
  std::optional<std::uint64_t> of(std::uint32_t narrow) {
    if (narrow != kIn64Bits) return narrow;
    if (left_.size() < 8) return std::nullopt;
    const auto value = number_at<std::uint64_t>(left_, 0);
    left_.remove_prefix(8);
    return value;
  }

 private:
  std::string_view left_;
};

}  // namespace

// The list of records at the end of the file.
class ZipArchive::Directory {
 public:
  explicit Directory(ZipArchive& archive) : archive_(archive) {
    find();
    if (bytes_ > kMostDirectoryBytes || begin_ > archive.file_bytes_ || bytes_ > archive.file_bytes_ - begin_)
      archive.refuse("its list of records does not lie in it");
    text_ = archive.bytes_at(begin_, bytes_);
    while (at_ < text_.size()) read_entry();
  }

 private:
  void find() {
    const std::uint64_t tail = std::min(archive_.file_bytes_, kEndBytes + kLongestComment);
    const std::string last = archive_.bytes_at(archive_.file_bytes_ - tail, tail);
    const std::size_t end = last.rfind("PK\x05\x06");
    if (end == std::string::npos || last.size() - end < kEndBytes) archive_.refuse("its end is missing");
    bytes_ = number_at<std::uint32_t>(last, end + 12);
    begin_ = number_at<std::uint32_t>(last, end + 16);
    if (end >= kLocatorBytes && last.compare(end - kLocatorBytes, 4, "PK\x06\x07") == 0)
      find_wide(number_at<std::uint64_t>(last, end - kLocatorBytes + 8));
  }

  void find_wide(std::uint64_t end) {
    if (end > archive_.file_bytes_ || archive_.file_bytes_ - end < kEnd64Bytes)
      archive_.refuse("its end does not lie in it");
    const std::string found = archive_.bytes_at(end, kEnd64Bytes);
    if (!found.starts_with("PK\x06\x06")) archive_.refuse("its end is damaged");
    bytes_ = number_at<std::uint64_t>(found, 40);
    begin_ = number_at<std::uint64_t>(found, 48);
  }

  std::string_view take(std::size_t count) {
    if (count > text_.size() - at_) archive_.refuse("its list of records is damaged");
    at_ += count;
    return std::string_view(text_).substr(at_ - count, count);
  }

  void read_entry() {
    const std::string_view entry = take(kEntryBytes);
    if (!entry.starts_with("PK\x01\x02")) archive_.refuse("its list of records is damaged");
    const std::string name(take(number_at<std::uint16_t>(entry, 28)));
    Wide wide(take(number_at<std::uint16_t>(entry, 30)));
    take(number_at<std::uint16_t>(entry, 32));  // a comment
    const auto bytes = wide.of(number_at<std::uint32_t>(entry, 24));
    const auto packed = wide.of(number_at<std::uint32_t>(entry, 20));
    const auto header = wide.of(number_at<std::uint32_t>(entry, 42));
    if (!bytes || !packed || !header) archive_.refuse("its list of records is damaged");
    const bool compressed = number_at<std::uint16_t>(entry, 10) != kAsItIs;
    if (!compressed) claim(*bytes);
    add(name, {*header, *bytes, number_at<std::uint32_t>(entry, 16), compressed});
  }

  // Records share no bytes, so that all of them fit into the file.
  void claim(std::uint64_t bytes) {
    if (bytes > archive_.file_bytes_ - claimed_)
      archive_.refuse("its records claim more bytes than the file has");
    claimed_ += bytes;
  }

  void add(const std::string& name, const Record& record) {
    const std::size_t folder = name.find('/');
    const std::string inside = folder == std::string::npos ? name : name.substr(folder + 1);
    if (!archive_.records_.emplace(inside, record).second)
      archive_.refuse(fmt::format("it holds '{}' twice", base::printable(inside)));
  }

  ZipArchive& archive_;
  std::uint64_t begin_ = 0, bytes_ = 0, claimed_ = 0;
  std::string text_;
  std::size_t at_ = 0;
};

ZipArchive::ZipArchive(const std::string& path) : path_(path), file_(path, std::ios::binary) {
  std::error_code no_size;
  file_bytes_ = std::filesystem::file_size(path, no_size);
  if (!file_ || no_size) refuse(fmt::format("it cannot be opened: {}", base::errno_text()));
  Directory{*this};
}

const ZipArchive::Record& ZipArchive::record(const std::string& name) const {
  const auto found = records_.find(name);
  if (found == records_.end()) refuse(fmt::format("it has no record '{}'", base::printable(name)));
  if (found->second.compressed) refuse(fmt::format("its record '{}' is compressed", base::printable(name)));
  return found->second;
}

void ZipArchive::read(const std::string& name, std::span<std::byte> to) {
  const Record& record = this->record(name);
  const std::string header = bytes_at(record.header, kHeaderBytes);
  if (!header.starts_with("PK\x03\x04")) refuse("a record is not where the list has it");
  const std::uint64_t names = number_at<std::uint16_t>(header, 26) + number_at<std::uint16_t>(header, 28);
  read_into(record.header + kHeaderBytes + names, to);
  if (crc32_z(0, reinterpret_cast<const Bytef*>(to.data()), to.size()) != record.checksum)
    refuse(fmt::format("the checksum of its record '{}' is wrong", base::printable(name)));
}

std::string ZipArchive::bytes_at(std::uint64_t begin, std::uint64_t count) {
  std::string bytes(count, '\0');
  read_into(begin, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

void ZipArchive::read_into(std::uint64_t begin, std::span<std::byte> to) {
  if (begin > file_bytes_ || to.size() > file_bytes_ - begin) refuse("it ends too early");
  file_.seekg(static_cast<std::streamoff>(begin));
  file_.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size()));
  if (!file_) refuse(fmt::format("it cannot be read: {}", base::errno_text()));
}

void ZipArchive::refuse(const std::string& why) const {
  throw base::DataError(
      fmt::format("'{}' is not a sound file of torch.save: {}. It may be damaged: fetch or save it again, or "
                  "as safetensors.",
                  path_, why));
}

}  // namespace lockstep::models
