#include "lockstep/cli/program.h"

#include <csignal>
#include <exception>

#include "lockstep/base/error.h"
#include "lockstep/base/printable.h"
#include "lockstep/cli/commands/backends.h"
#include "lockstep/cli/commands/bench.h"
#include "lockstep/cli/commands/compare.h"
#include "lockstep/cli/commands/completion.h"
#include "lockstep/cli/commands/data.h"
#include "lockstep/cli/commands/doctor.h"
#include "lockstep/cli/commands/fit.h"
#include "lockstep/cli/commands/models.h"
#include "lockstep/cli/commands/report.h"
#include "lockstep/cli/commands/runs.h"
#include "lockstep/cli/commands/strategies.h"
#include "lockstep/cli/commands/study.h"
#include "lockstep/cli/commands/train.h"
#include "lockstep/cli/help.h"
#include "lockstep/cli/parser.h"
#include "lockstep/cli/version.h"

namespace lockstep::cli {
namespace {

int run_line(const ParsedLine& line, const Commands& commands, const std::vector<std::string>& arguments,
             Console& console) {
  if (line.common.help) {
    console.print(line.command != nullptr ? command_help(*line.command, console)
                                          : program_help(commands, console));
    return 0;
  }
  if (line.common.version) {
    console.print(version_line() + "\n");
    return 0;
  }
  if (line.command == nullptr) {
    console.note(program_help(commands, console));
    throw base::UsageError("a command is needed.");
  }
  return line.command->run({console, arguments});
}

// Messages quote what was typed and what files hold, which may be anything.
void print_error(const std::string& message, const Console& console) {
  console.note(console.styled_note("error:", Tone::bad) + " " + base::printable(message) + "\n");
}

int run_checked(const std::vector<std::string>& arguments, Console& console) {
  try {
    const Commands commands = make_commands();
    const ParsedLine line = parse_line(arguments, commands);
    console = Console(line.common.color);
    return run_line(line, commands, arguments, console);
  } catch (const ReaderGone&) {
    return static_cast<int>(base::ExitCode::signal_base) + SIGPIPE;
  } catch (const base::Error& error) {
    print_error(error.what(), console);
    return static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    print_error(std::string("something unforeseen happened: ") + error.what(), console);
    return 1;
  }
}

}  // namespace

Commands make_commands() {
  Commands commands;
  commands.push_back(std::make_unique<TrainCommand>());
  commands.push_back(std::make_unique<StudyCommand>());
  commands.push_back(std::make_unique<CompareCommand>());
  commands.push_back(std::make_unique<BenchCommand>());
  commands.push_back(std::make_unique<FitCommand>());
  commands.push_back(std::make_unique<DoctorCommand>());
  commands.push_back(std::make_unique<ModelsCommand>());
  commands.push_back(std::make_unique<DataCommand>());
  commands.push_back(std::make_unique<BackendsCommand>());
  commands.push_back(std::make_unique<ReportCommand>());
  commands.push_back(std::make_unique<RunsCommand>());
  commands.push_back(std::make_unique<StrategiesCommand>());
  commands.push_back(std::make_unique<CompletionCommand>());
  return commands;
}

int run_program(const std::vector<std::string>& arguments) noexcept {
  try {
    Console console;
    return run_checked(arguments, console);
  } catch (...) {
    return 1;
  }
}

}  // namespace lockstep::cli
