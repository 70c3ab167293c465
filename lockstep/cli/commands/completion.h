// lockstep completion: prints the completion script of a shell.
#pragma once

#include "lockstep/cli/command.h"

namespace lockstep::cli {

class CompletionCommand : public Command {
 public:
  std::string_view name() const override { return "completion"; }
  std::string_view summary() const override { return "print the completion script for a shell"; }
  std::vector<Example> examples() const override;
  std::vector<Flag> flags() override;
  int run(const Invocation& invocation) override;

 private:
  std::string shell_;
};

}  // namespace lockstep::cli
