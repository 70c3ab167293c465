// `lockstep-worker`: one rank of the engine, and what the engine knows about itself. Started by `lockstep`.
#include <fmt/format.h>

#include <array>
#include <csignal>
#include <cstdio>

#include "lockstep/base/error.h"
#include "lockstep/base/printable.h"
#include "lockstep/launch/rank_output.h"
#include "lockstep/train/worker/commands.h"

namespace {

using lockstep::train::Words;

struct Command {
  std::string_view name;
  int (*run)(const Words&);
};

constexpr std::array<Command, 4> kCommands = {{
    {"train", lockstep::train::train_command},
    {"describe", lockstep::train::describe_command},
    {"export-weights", lockstep::train::export_weights_command},
    {"logits", lockstep::train::logits_command},
}};

int run(const Words& words) {
  for (const Command& command : kCommands) {
    if (!words.empty() && words.front() == command.name) return command.run({words.begin() + 1, words.end()});
  }
  throw lockstep::base::UsageError(
      "lockstep-worker is started by `lockstep train`; its commands are train, describe, export-weights and "
      "logits.");
}

}  // namespace

int main(int argc, char** argv) {
  lockstep::launch::adopt_rank_output();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error like a full disk
  try {
    return run({argv + 1, argv + argc});
  } catch (const lockstep::base::Error& error) {
    fmt::print(stderr, "error: {}\n", lockstep::base::printable(error.what()));
    return static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: something unforeseen happened: {}\n", lockstep::base::printable(error.what()));
    return 1;
  }
}
