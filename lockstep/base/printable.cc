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

// A character of three or four bytes that has a shorter form, lies beyond the last one, or is half of a pair.
bool is_no_character(unsigned char first, unsigned char second) {
  return (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
         (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
}

// The length of the character at the beginning; 0 where it is a control character or no character at all.
std::size_t character_at(std::string_view rest) {
  const auto first = static_cast<unsigned char>(rest.front());
  const std::size_t length = character_length(rest);
  if (length == 1) return first >= 0x20 && first != 0x7F ? 1 : 0;
  const bool is_control = first == 0xC2 && length == 2 && static_cast<unsigned char>(rest[1]) < 0xA0;
  return is_control ? 0 : length;
}

std::string shown(std::string_view text, std::string_view kept) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const bool keeps = kept.find(text.front()) != kept.npos;
    const std::size_t length = keeps ? 1 : character_at(text);
    if (length == 0)
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    else
      shown += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return shown;
}

}  // namespace

std::size_t character_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = length_by_first(first);
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!continues(static_cast<unsigned char>(text[i]))) return 0;
  return length > 2 && is_no_character(first, static_cast<unsigned char>(text[1])) ? 0 : length;
}

std::string printable(std::string_view text) {
  return shown(text, "\n\t");
}

std::string printable_line(std::string_view text) {
  return shown(text, "");
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
