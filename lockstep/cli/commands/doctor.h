// lockstep doctor: what works on this machine, and why not.
#pragma once

#include "lockstep/cli/command.h"

namespace lockstep::cli {

class DoctorCommand : public Command {
 public:
  std::string_view name() const override { return "doctor"; }
  std::string_view summary() const override { return "what works on this machine, and why not"; }
  std::vector<Example> examples() const override;
  std::vector<Flag> flags() override;
  int run(const Invocation& invocation) override;

 private:
  bool json_ = false;
};

}  // namespace lockstep::cli
