// Small text helpers: splitting, joining, and finding what a misspelt word was meant to be.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::base {

// The parts between the separators; an empty text has no parts.
std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
std::string trim(std::string_view text);
// "batch size" of "batch_size": a name of the program's as words.
std::string spaced(std::string_view name);

// A field of a CSV file (RFC 4180): quoted where it must be. What a spreadsheet would take for a formula (it
// begins with = + - @ or a tab, and is no number) begins with an apostrophe, as spreadsheets mark text. Fit
// for a terminal.
std::string csv_field(std::string_view text);

// Whether a text is fit to be a directory's name, wherever it comes from: letters, digits, '-', '_', '+' and
// '.', neither '.' nor '-' first, and not too many.
bool is_plain_name(std::string_view text);

// How many letters must be inserted, removed, replaced or swapped with their neighbour to turn one into the
// other.
std::size_t edit_distance(std::string_view one, std::string_view other);

// The candidate a misspelt word was most likely meant to be; nothing when none is near.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

// " Did you mean 'x'?" or nothing: to be appended to a message about an unknown word.
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace lockstep::base
