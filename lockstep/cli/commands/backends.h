// lockstep backends: the ways bytes can move, whether each can be used here, and if not, why.
#pragma once

#include "lockstep/cli/command.h"

namespace lockstep::cli {

class BackendsCommand : public Command {
 public:
  std::string_view name() const override { return "backends"; }
  std::string_view summary() const override { return "the ways bytes can move here, and why not"; }
  std::vector<Example> examples() const override;
  std::vector<Flag> flags() override;
  int run(const Invocation& invocation) override;

 private:
  bool json_ = false;
};

}  // namespace lockstep::cli
