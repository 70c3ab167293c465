#include "lockstep/base/printable.h"

#include <fmt/format.h>

namespace lockstep::base {
namespace {

bool continues(unsigned char byte) {
  return (byte & 0xC0) == 0x80;
}

// How many bytes a UTF-8 character has that begins so; 0: none does.
std::size_t length_by_first(unsigned char byte) {
  if (byte < 0x80) return 1;
  if (byte >= 0xC2 && byte <= 0xDF) return 2;
  if (byte >= 0xE0 && byte <= 0xEF) return 3;
  return byte >= 0xF0 && byte <= 0xF4 ? 4 : 0;
}

// The length of the character at the beginning; 0 where it is a control character or no character at all.
std::size_t character_at(std::string_view rest) {
  const auto first = static_cast<unsigned char>(rest.front());
  const std::size_t length = length_by_first(first);
  if (length == 0 || length > rest.size()) return 0;
  if (length == 1) return first >= 0x20 && first != 0x7F ? 1 : 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!continues(static_cast<unsigned char>(rest[i]))) return 0;
  const bool is_control = first == 0xC2 && static_cast<unsigned char>(rest[1]) < 0xA0;
  return is_control ? 0 : length;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const bool keeps = text.front() == '\n' || text.front() == '\t';
    const std::size_t length = keeps ? 1 : character_at(text);
    if (length == 0)
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    else
      shown += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return shown;
}

std::optional<std::size_t> first_unprintable(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const bool keeps = text[at] == '\n' || text[at] == '\t' || text[at] == '\r';
    const std::size_t length = keeps ? 1 : character_at(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

}  // namespace lockstep::base
