#include "lockstep/cli/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/text.h"
#include "lockstep/cli/parser.h"

namespace lockstep::cli {
namespace {

std::string heading(const Console& console, const std::string& text) {
  return console.styled(text, Tone::heading) + "\n";
}

std::string examples_text(const std::vector<Example>& examples) {
  std::string text;
  for (const Example& example : examples)
    text += fmt::format("  {}\n      {}\n", example.command, example.what);
  return text;
}

std::string left_column(const Flag& flag) {
  const std::string names = base::join(spellings(flag), ", ");
  if (flag.is_positional()) return flag.value;
  if (flag.truth) return "    --[no-]" + flag.names.substr(2);
  return (names.starts_with("--") ? "    " : "") + names + (flag.is_switch() ? "" : " " + flag.value);
}

std::string two_columns(const std::vector<std::pair<std::string, std::string>>& rows) {
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.first.size());
  std::string text;
  for (const auto& [left, right] : rows) text += fmt::format("  {:<{}}  {}\n", left, width, right);
  return text;
}

std::string flags_text(const std::vector<Flag>& flags, const std::string& group = "") {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Flag& flag : flags)
    if (flag.group == group) rows.emplace_back(left_column(flag), flag.help);
  return two_columns(rows);
}

// One block for each group, in the order of the table.
std::string groups_text(const std::vector<Flag>& flags, const Console& console) {
  std::string text, last;
  for (const Flag& flag : flags) {
    if (flag.group == last || flag.group.empty()) continue;
    text += "\n" + heading(console, flag.group) + flags_text(flags, flag.group);
    last = flag.group;
  }
  return text;
}

std::string usage_of(const Command& command, const std::vector<Flag>& flags) {
  std::string usage = "lockstep " + std::string(command.name());
  for (const Flag& flag : flags)
    if (flag.is_positional()) usage += " " + flag.value;
  return usage + " [flags]";
}

}  // namespace

std::string program_help(const Commands& commands, const Console& console) {
  CommonOptions options;
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& command : commands) rows.emplace_back(command->name(), command->summary());
  const std::vector<Example> examples = {
      {"lockstep doctor", "what works on this machine, and why not"},
      {"lockstep train --model lenet5 --data fashion-mnist --workers 2 --epochs 3",
       "train on two workers, and say where the time and the bytes went"},
      {"lockstep bench allreduce --backend shm,gloo,mpi --workers 2 -b 4K -e 256M -f 4",
       "time and check a collective over three backends in one run"},
      {"lockstep models", "the networks there are; likewise data, backends, runs"},
  };
  return "lockstep: trains neural networks data-parallel and measures what that costs and buys.\n\n" +
         heading(console, "Examples") + examples_text(examples) + "\n" + heading(console, "Commands") +
         two_columns(rows) + "\n" + heading(console, "Flags") + flags_text(program_flags(options)) +
         "\nlockstep COMMAND --help tells more. Exit codes: 0 done, 1 failed, 2 usage, 3 bad configuration "
         "or data,\n"
         "4 backend or device missing, 5 threshold missed, 6 verification failed, 124 time-out, 128+N "
         "signal.\n";
}

std::string command_help(Command& command, const Console& console) {
  CommonOptions options;
  std::vector<Flag> flags = command.flags();
  const std::string usage = usage_of(command, flags);
  for (Flag& flag : common_flags(options)) flags.push_back(std::move(flag));
  return fmt::format("lockstep {}: {}\n\n", command.name(), command.summary()) +
         heading(console, "Examples") + examples_text(command.examples()) + "\n" + heading(console, "Usage") +
         "  " + usage + "\n\n" + heading(console, "Flags") + flags_text(flags) + groups_text(flags, console);
}

}  // namespace lockstep::cli
