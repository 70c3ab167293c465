#include "lockstep/cli/commands/completion.h"

#include "lockstep/base/error.h"
#include "lockstep/cli/completion.h"
#include "lockstep/cli/program.h"
#include "lockstep/cli/setters.h"

namespace lockstep::cli {

std::vector<Example> CompletionCommand::examples() const {
  return {
      {"source <(lockstep completion bash)", "complete in this shell"},
      {"lockstep completion bash > ~/.local/share/bash-completion/completions/lockstep",
       "complete in every new one"},
  };
}

std::vector<Flag> CompletionCommand::flags() {
  return {{.names = "shell",
           .value = "SHELL",
           .help = "bash",
           .known_values = {"bash"},
           .set = one_of(shell_, {"bash"})}};
}

int CompletionCommand::run(const Invocation& invocation) {
  if (shell_.empty()) throw base::UsageError("which shell? There is one for bash: lockstep completion bash.");
  invocation.console.print(bash_completion(make_commands()));
  return 0;
}

}  // namespace lockstep::cli
