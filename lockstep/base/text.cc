#include "lockstep/base/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "lockstep/base/printable.h"

namespace lockstep::base {
namespace {

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

// Some spreadsheets leave blanks at a cell's beginning out, and take full-width signs for the others.
bool begins_as_formula(std::string_view field) {
  if (field.starts_with('\t')) return true;
  const std::size_t begin = field.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return false;
  field.remove_prefix(begin);
  for (const std::string_view sign : {"=", "+", "-", "@", "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"})
    if (field.starts_with(sign)) return true;
  return false;
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(separator); end != std::string_view::npos;
       end = text.find(separator, begin)) {
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.emplace_back(text.substr(begin));
  return parts;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string joined;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) joined += separator;
    joined += parts[i];
  }
  return joined;
}

std::string trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(kSpace) - begin + 1));
}

std::string spaced(std::string_view name) {
  std::string words(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string csv_field(std::string_view text) {
  std::string field = printable(text);
  if (begins_as_formula(field) && !is_number(field)) field.insert(0, 1, '\'');
  if (field.find_first_of(",\"\n\t") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char letter : field) quoted.append(letter == '"' ? 2 : 1, letter);
  return quoted + '"';
}

bool is_plain_name(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  return !text.empty() && text.size() <= kLongest && text.front() != '.' && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [](unsigned char letter) {
           return std::isalnum(letter) != 0 || letter == '-' || letter == '_' || letter == '.' ||
                  letter == '+';
         });
}

std::size_t edit_distance(std::string_view one, std::string_view other) {
  const std::size_t columns = other.size() + 1;
  std::vector<std::size_t> before_last(columns), last(columns), current(columns);
  for (std::size_t j = 0; j < columns; ++j) last[j] = j;
  for (std::size_t i = 1; i <= one.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j < columns; ++j) {
      const std::size_t replace = last[j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
      if (swapped) current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(current);
  }
  return last[other.size()];
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  const std::size_t farthest = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::optional<std::string> best;
  std::size_t best_distance = farthest + 1;
  for (const std::string& candidate : candidates) {
    const bool prefix = word.size() >= 3 && candidate.starts_with(word);
    const std::size_t distance = prefix ? 0 : edit_distance(word, candidate);
    if (distance < best_distance && distance < std::max(word.size(), candidate.size())) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  const std::optional<std::string> meant = nearest(word, candidates);
  return meant ? " Did you mean '" + *meant + "'?" : std::string();
}

}  // namespace lockstep::base
