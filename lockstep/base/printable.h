// Text that may hold anything, made fit for a terminal: bytes that are no text, and those that would move the
// cursor or change colours, are written as \x1b.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lockstep::base {

// Line ends and tabs stay. Never fails, whatever the bytes.
std::string printable(std::string_view text);

// The same for what is to stay in one line, as a table's cell: line ends and tabs are written as \x0a too.
std::string printable_line(std::string_view text);

// How many bytes the UTF-8 character at the beginning has; 0 where none begins there. The text is not empty.
std::size_t character_length(std::string_view text);

// Where the first byte stands that is neither UTF-8 text nor a line end or tab; nothing in a text file.
std::optional<std::size_t> first_unprintable(std::string_view text);

}  // namespace lockstep::base
