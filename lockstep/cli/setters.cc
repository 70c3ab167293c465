#include "lockstep/cli/setters.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/base/units.h"

namespace lockstep::cli {
namespace {

template <typename Number>
Number parse_number(const std::string& typed, const char* what) {
  Number value{};
  const char* end = typed.data() + typed.size();
  const auto [rest, error] = std::from_chars(typed.data(), end, value);
  if (error == std::errc::result_out_of_range && rest == end)
    throw base::UsageError(fmt::format("'{}' is too large or too small to be held.", typed));
  if (error != std::errc() || rest != end)
    throw base::UsageError(fmt::format("'{}' is not {}.", typed, what));
  return value;
}

// Digits, however many: what no integer of ours holds is a whole number all the same.
bool is_whole_number(std::string_view typed) {
  if (typed.starts_with('-')) typed.remove_prefix(1);
  return !typed.empty() && typed.find_first_not_of("0123456789") == std::string_view::npos;
}

int parse_whole_number(const std::string& typed, const WholeRange& range) {
  if (!is_whole_number(typed)) throw base::UsageError(fmt::format("'{}' is not a whole number.", typed));
  int value = typed.starts_with('-') ? std::numeric_limits<int>::min() : std::numeric_limits<int>::max();
  const bool held = std::from_chars(typed.data(), typed.data() + typed.size(), value).ec == std::errc();
  if (value < range.least)
    throw base::UsageError(fmt::format("{} is too small: at least {} is needed.", typed, range.least));
  if (value > range.most || !held)
    throw base::UsageError(fmt::format("{} is too large: at most {} is possible.", typed, range.most));
  return value;
}

}  // namespace

Setter turn_on(bool& target) {
  return [&target](const std::string&) { target = true; };
}
Setter text(std::string& target) {
  return [&target](const std::string& typed) { target = typed; };
}
Setter text(std::optional<std::string>& target) {
  return [&target](const std::string& typed) { target = typed; };
}
Setter path(std::filesystem::path& target) {
  return [&target](const std::string& typed) {
    if (typed.empty()) throw base::UsageError("a path is needed, and there is none.");
    target = typed;
  };
}

Setter whole_number(int& target, WholeRange range) {
  return [&target, range](const std::string& typed) { target = parse_whole_number(typed, range); };
}
Setter whole_number(std::optional<int>& target, WholeRange range) {
  return [&target, range](const std::string& typed) { target = parse_whole_number(typed, range); };
}
Setter port(std::optional<int>& target) {
  return whole_number(target, {1, 65535});
}

Setter zero_or_one(bool& target) {
  return [&target](const std::string& typed) {
    if (typed != "0" && typed != "1") throw base::UsageError(fmt::format("'{}' is neither 0 nor 1.", typed));
    target = typed == "1";
  };
}

Setter number(double& target) {
  return [&target](const std::string& typed) {
    const double value = parse_number<double>(typed, "a number");
    if (!std::isfinite(value)) throw base::UsageError(fmt::format("'{}' is not a finite number.", typed));
    target = value;
  };
}

Setter bytes(std::uint64_t& target) {
  return [&target](const std::string& typed) { target = base::parse_bytes(typed); };
}
Setter bytes_per_second(std::optional<double>& target) {
  return [&target](const std::string& typed) { target = base::parse_bytes_per_second(typed); };
}
Setter duration(base::Nanoseconds& target) {
  return [&target](const std::string& typed) {
    const base::Nanoseconds parsed = base::parse_duration(typed);
    if (parsed <= base::Nanoseconds(0))
      throw base::UsageError(fmt::format("'{}' is no time at all: a limit must be above 0.", typed));
    target = parsed;
  };
}

Setter one_of(std::string& target, std::vector<std::string> known) {
  return [&target, known = std::move(known)](const std::string& typed) {
    if (std::find(known.begin(), known.end(), typed) == known.end())
      throw base::UsageError(known.size() == 1
                                 ? fmt::format("'{}' is unknown: there is only {}.", typed, known.front())
                                 : fmt::format("'{}' is none of {}.{}", typed, base::join(known, ", "),
                                               base::suggestion(typed, known)));
    target = typed;
  };
}

Setter words(std::vector<std::string>& target) {
  return [&target](const std::string& typed) {
    if (base::trim(typed).empty()) throw base::UsageError("a name is needed, and there is none.");
    for (const std::string& part : base::split(typed, ',')) {
      const std::string word = base::trim(part);
      if (word.empty()) throw base::UsageError(fmt::format("'{}' has an empty place between commas.", typed));
      target.push_back(word);
    }
  };
}

void require_known(const std::string& kind, const std::string& word, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), word) != known.end()) return;
  throw base::UsageError(fmt::format("there is no {} '{}'.{} There are: {}.", kind, word,
                                     base::suggestion(word, known), base::join(known, ", ")));
}

}  // namespace lockstep::cli
