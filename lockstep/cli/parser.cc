#include "lockstep/cli/parser.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/cli/setters.h"
#include "lockstep/cli/truth_words.h"

namespace lockstep::cli {
namespace {

const std::vector<std::string> kColors = {"auto", "always", "never"};

// One flag on its way through CLI11: the words are collected first and turned into values afterwards, so that
// a misspelt flag is reported before the value that it seems to have left behind.
struct Collected {
  Flag flag;
  std::vector<std::string> texts;
  CLI::Option* option = nullptr;
};

// One level of the command line: the program, or a command.
struct Level {
  CLI::App* app = nullptr;
  Command* command = nullptr;  // null: the program
  std::deque<Collected> flags;

  void add(Flag flag) {
    Collected& collected = flags.emplace_back(Collected{std::move(flag), {}, nullptr});
    if (collected.flag.is_switch()) {
      collected.option = app->add_flag(collected.flag.names);
    } else {
      // CLI11 2.4 refuses a positional argument that is called like a flag, and one whose name has spaces or
      // brackets: it gets a name that no flag has and that nobody sees.
      const std::string names =
          collected.flag.is_positional() ? "POSITIONAL_" + collected.flag.names : collected.flag.names;
      collected.option = app->add_option(names, collected.texts);
      collected.option->allow_extra_args(collected.flag.is_positional());
    }
  }
};

std::string where_to_look(const Level& level) {
  const std::string command = level.command == nullptr ? "" : " " + std::string(level.command->name());
  return fmt::format(" See lockstep{} --help.", command);
}

std::vector<std::string> all_spellings(const Level& level) {
  std::vector<std::string> known;
  for (const Collected& collected : level.flags)
    if (!collected.flag.is_positional())
      for (const std::string& spelling : spellings(collected.flag)) known.push_back(spelling);
  return known;
}

std::vector<std::string> names_of(const Commands& commands) {
  std::vector<std::string> names;
  for (const auto& command : commands) names.emplace_back(command->name());
  return names;
}

[[noreturn]] void refuse_flag(const Level& level, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const std::vector<std::string> known = all_spellings(level);
  if (name != word && std::find(known.begin(), known.end(), name) != known.end())
    throw base::UsageError(fmt::format("{} takes no value.{}", name, where_to_look(level)));
  const std::string owner =
      level.command == nullptr ? "lockstep" : "lockstep " + std::string(level.command->name());
  throw base::UsageError(fmt::format("{} has no flag '{}'.{}{}", owner, name, base::suggestion(name, known),
                                     where_to_look(level)));
}

[[noreturn]] void refuse_command(const std::string& word, const Commands& commands) {
  const std::vector<std::string> names = names_of(commands);
  throw base::UsageError(fmt::format("there is no command '{}'.{} There are: {}.", word,
                                     base::suggestion(word, names), base::join(names, ", ")));
}

// Words that CLI11 could not place: a flag among them is the likeliest mistake.
void refuse_extras(const Level& level, const Commands& commands) {
  const std::vector<std::string> extras = level.app->remaining(false);
  if (extras.empty()) return;
  const auto flag = std::find_if(extras.begin(), extras.end(),
                                 [](const std::string& word) { return word.size() > 1 && word[0] == '-'; });
  if (flag != extras.end()) refuse_flag(level, *flag);
  if (level.command == nullptr) refuse_command(extras.front(), commands);
  throw base::UsageError(fmt::format("lockstep {} does not know what to do with '{}'.{}",
                                     level.command->name(), extras.front(), where_to_look(level)));
}

// Help is answered whatever else is wrong, but not for a command that there is not.
void refuse_unknown_command(const Level& program, const Commands& commands) {
  const std::vector<std::string> extras = program.app->remaining(false);
  if (!extras.empty() && !extras.front().starts_with('-')) refuse_command(extras.front(), commands);
}

std::string longest_spelling(const Flag& flag) {
  return spellings(flag).back();
}

// As a script's unset variable leaves it behind: "$FILE".
void refuse_empty_argument(const Flag& flag) {
  throw base::UsageError(
      fmt::format("an argument is empty. What may stand there: {}.", base::trim(flag.value)));
}

void apply(const Collected& collected, const std::string& text) {
  if (collected.flag.is_positional() && text.empty()) refuse_empty_argument(collected.flag);
  try {
    collected.flag.set(text);
  } catch (const base::UsageError& error) {
    if (collected.flag.is_positional()) throw;
    throw base::UsageError(longest_spelling(collected.flag) + ": " + error.what());
  }
}

void apply_flags(const Level& level) {
  for (const Collected& collected : level.flags) {
    if (collected.flag.is_switch() && collected.option->count() > 0) apply(collected, "");
    for (const std::string& text : collected.texts) apply(collected, text);
  }
}

// CLI11 begins its text with the option's name where it knows it ("--backend: 1 required TEXT missing").
[[noreturn]] void refuse_as_cli11_says(const CLI::ParseError& error) {
  const std::string text = error.what();
  const std::string name = text.substr(0, text.find(':'));
  if (error.get_name() == "ArgumentMismatch" && name.starts_with('-'))
    throw base::UsageError(fmt::format("{} needs a value.", name));
  throw base::UsageError(text);
}

void let_cli11_parse(CLI::App& root, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    root.parse(arguments);
  } catch (const CLI::ParseError& error) {
    refuse_as_cli11_says(error);
  }
}

bool asks_for_help(const Level& level) {
  return std::any_of(level.flags.begin(), level.flags.end(), [](const Collected& collected) {
    return collected.flag.names == "-h,--help" && collected.option->count() > 0;
  });
}

void configure(CLI::App& app) {
  app.set_help_flag();
  app.allow_extras();
}

}  // namespace

std::vector<Flag> common_flags(CommonOptions& options) {
  return {
      {.names = "--color",
       .value = "WHEN",
       .help = "colour the output: auto (default), always or never",
       .known_values = kColors,
       .set = one_of(options.color, kColors)},
      {.names = "-h,--help", .help = "print this help", .set = turn_on(options.help)},
  };
}

std::vector<Flag> program_flags(CommonOptions& options) {
  std::vector<Flag> flags = common_flags(options);
  flags.push_back(
      {.names = "--version", .help = "print version, compiler and build", .set = turn_on(options.version)});
  return flags;
}

std::vector<std::string> with_dashes(std::vector<std::string> arguments) {
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    if (!argument.starts_with("--")) continue;
    const auto name_end =
        argument.begin() + static_cast<std::ptrdiff_t>(std::min(argument.find('='), argument.size()));
    std::replace(argument.begin(), name_end, '_', '-');
  }
  return arguments;
}

ParsedLine parse_line(const std::vector<std::string>& arguments, const Commands& commands) {
  ParsedLine line;
  CLI::App root;
  configure(root);
  root.require_subcommand(0, 1);
  Level program{&root, nullptr, {}};
  for (Flag& flag : program_flags(line.common)) program.add(std::move(flag));

  std::deque<Level> levels;
  std::vector<Flag> all_flags;
  for (const auto& command : commands) {
    CLI::App* app = root.add_subcommand(std::string(command->name()));
    configure(*app);
    Level& level = levels.emplace_back(Level{app, command.get(), {}});
    for (Flag& flag : command->flags()) {
      all_flags.push_back(flag);
      level.add(std::move(flag));
    }
    for (Flag& flag : common_flags(line.common)) level.add(std::move(flag));
  }
  let_cli11_parse(root, with_truth_values(with_dashes(arguments), all_flags));

  const auto chosen =
      std::find_if(levels.begin(), levels.end(), [](const Level& level) { return level.app->parsed(); });
  if (chosen != levels.end()) line.command = chosen->command;
  line.common.help = asks_for_help(program) || (chosen != levels.end() && asks_for_help(*chosen));
  if (line.common.help) {
    if (line.command == nullptr) refuse_unknown_command(program, commands);
    return line;
  }
  refuse_extras(program, commands);
  apply_flags(program);
  if (chosen == levels.end()) return line;
  refuse_extras(*chosen, commands);
  apply_flags(*chosen);
  return line;
}

}  // namespace lockstep::cli
