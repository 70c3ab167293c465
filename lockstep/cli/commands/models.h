// lockstep models: the networks there are, with what the worker counts of each.
#pragma once

#include <optional>

#include "lockstep/cli/command.h"

namespace lockstep::cli {

class ModelsCommand : public Command {
 public:
  std::string_view name() const override { return "models"; }
  std::string_view summary() const override { return "the networks there are, their parameters and FLOPs"; }
  std::vector<Example> examples() const override;
  std::vector<Flag> flags() override;
  int run(const Invocation& invocation) override;

 private:
  int show_catalogue(const Invocation& invocation) const;

  bool json_ = false;
  std::optional<int> classes_;
};

}  // namespace lockstep::cli
