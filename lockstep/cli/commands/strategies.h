// lockstep strategies: the ways to divide the work, what each sends and keeps, and on which backends.
#pragma once

#include "lockstep/cli/command.h"

namespace lockstep::cli {

class StrategiesCommand : public Command {
 public:
  std::string_view name() const override { return "strategies"; }
  std::string_view summary() const override {
    return "the ways to divide the work: what each sends and keeps";
  }
  std::vector<Example> examples() const override;
  std::vector<Flag> flags() override;
  int run(const Invocation& invocation) override;

 private:
  bool json_ = false;
};

}  // namespace lockstep::cli
