#include "lockstep/cli/completion.h"

#include <fmt/format.h>

#include "lockstep/base/text.h"
#include "lockstep/cli/parser.h"

namespace lockstep::cli {
namespace {

// The part that does not depend on the tables. `_lockstep_flags`, `_lockstep_values` and `_lockstep_words`
// are generated: each echoes words for a command ("" is the program itself).
constexpr const char* kLogic = R"BASH(
_lockstep_offer() {  # words, what was typed: completes the last of several words with commas between them
  local typed="$2" before=""
  if [[ "$typed" == *,* ]]; then before="${typed%,*},"; typed="${typed##*,}"; fi
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "$typed")
}

_lockstep() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="" command="" word i
  if (( COMP_CWORD > 0 )); then previous="${COMP_WORDS[COMP_CWORD-1]}"; fi
  COMPREPLY=()
  for (( i = 1; i < COMP_CWORD; i++ )); do
    word="${COMP_WORDS[i]}"
    case " $(_lockstep_words '') " in *" $word "*) command="$word"; break;; esac
  done
  # bash makes '=' a word of its own: --backend = shm
  if [[ "$current" == "=" ]]; then current=""
  elif [[ "$previous" == "=" ]] && (( COMP_CWORD > 1 )); then previous="${COMP_WORDS[COMP_CWORD-2]}"; fi
  if [[ "$previous" == --* ]]; then previous="--$(tr _ - <<< "${previous#--}")"; fi
  local values
  if values="$(_lockstep_values "$command" "$previous")"; then _lockstep_offer "$values" "$current"; return; fi
  if [[ "$current" == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_lockstep_flags "$command")" -- "$current")
  else
    _lockstep_offer "$(_lockstep_words "$command")" "$current"
  fi
}
complete -o default -F _lockstep lockstep
)BASH";

// A command, or the program itself, with its flags.
struct CompletedLevel {
  std::string name;
  std::vector<Flag> flags;
};

std::vector<CompletedLevel> levels_of(const Commands& commands) {
  CommonOptions options;  // only the tables are wanted; nothing is set
  std::vector<CompletedLevel> levels = {{"", program_flags(options)}};
  for (const auto& command : commands) {
    CompletedLevel level{std::string(command->name()), command->flags()};
    for (Flag& flag : common_flags(options)) level.flags.push_back(std::move(flag));
    levels.push_back(std::move(level));
  }
  return levels;
}

std::string function(const std::string& name, const std::string& branches) {
  return fmt::format("{}() {{\n  case \"$*\" in\n{}    *) return 1;;\n  esac\n}}\n", name, branches);
}

std::string branch(const std::string& pattern, const std::string& words) {
  return fmt::format("    {}) echo \"{}\";;\n", pattern, words);
}

std::string flags_branch(const CompletedLevel& level) {
  std::vector<std::string> words;
  for (const Flag& flag : level.flags)
    if (!flag.is_positional())
      for (const std::string& spelling : spellings(flag)) words.push_back(spelling);
  return branch(fmt::format("\"{}\"", level.name), base::join(words, " "));
}

// A flag that takes any value answers with nothing: then bash offers file names.
std::string values_branches(const CompletedLevel& level) {
  std::string branches;
  for (const Flag& flag : level.flags) {
    if (flag.is_positional() || flag.is_switch()) continue;
    std::vector<std::string> patterns;
    for (const std::string& spelling : spellings(flag))
      patterns.push_back(fmt::format("\"{} {}\"", level.name, spelling));
    branches += branch(base::join(patterns, "|"), base::join(flag.known_values, " "));
  }
  return branches;
}

std::string words_branch(const CompletedLevel& level, const std::vector<std::string>& command_names) {
  std::vector<std::string> words = level.name.empty() ? command_names : std::vector<std::string>();
  for (const Flag& flag : level.flags)
    if (flag.is_positional()) words.insert(words.end(), flag.known_values.begin(), flag.known_values.end());
  return branch(fmt::format("\"{}\"", level.name), base::join(words, " "));
}

}  // namespace

std::string bash_completion(const Commands& commands) {
  std::vector<std::string> command_names;
  for (const auto& command : commands) command_names.emplace_back(command->name());
  std::string flags, values, words;
  for (const CompletedLevel& level : levels_of(commands)) {
    flags += flags_branch(level);
    values += values_branches(level);
    words += words_branch(level, command_names);
  }
  return "# bash completion for lockstep, made by `lockstep completion bash`\n" +
         function("_lockstep_flags", flags) + function("_lockstep_values", values) +
         function("_lockstep_words", words) + kLogic;
}

}  // namespace lockstep::cli
