#include "lockstep/cli/truth_words.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

namespace lockstep::cli {
namespace {

bool is_truth_word(const std::string& word) {
  constexpr std::array kWords = {"true", "false", "on", "off", "yes", "no", "1", "0"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

// A word that is meant for somebody else: a flag, or a spec file, which is there or looks like a file's name.
bool is_flag_or_file(const std::string& word) {
  if (word.starts_with('-') || word.find_first_of("./") != std::string::npos) return true;
  std::error_code ignored;
  return std::filesystem::exists(word, ignored);
}

std::set<std::string> truth_flags(const std::vector<Flag>& flags) {
  std::set<std::string> names;
  for (const Flag& flag : flags)
    if (flag.truth) names.insert(flag.names);
  return names;
}

// "--no-measure" for a known "--measure", else nothing.
std::string denied(const std::string& argument, const std::set<std::string>& names) {
  if (!argument.starts_with("--no-")) return {};
  const std::string name = "--" + argument.substr(5);
  return names.contains(name) ? name : std::string();
}

}  // namespace

std::vector<std::string> with_truth_values(const std::vector<std::string>& arguments,
                                           const std::vector<Flag>& flags) {
  const std::set<std::string> names = truth_flags(flags);
  std::vector<std::string> result;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      result.insert(result.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
      break;
    }
    if (const std::string name = denied(argument, names); !name.empty()) {
      result.push_back(name + "=false");
    } else if (names.contains(argument)) {
      const bool told =
          i + 1 < arguments.size() && (is_truth_word(arguments[i + 1]) || !is_flag_or_file(arguments[i + 1]));
      result.push_back(argument + "=" + (told ? arguments[++i] : "true"));
    } else {
      result.push_back(argument);
    }
  }
  return result;
}

}  // namespace lockstep::cli
