// lockstep fit: which batch fits into a worker's memory under every answer there is, found by trying.
#pragma once

#include "lockstep/cli/command.h"
#include "lockstep/cli/fit/fit_options.h"

namespace lockstep::cli {

class FitCommand : public Command {
 public:
  std::string_view name() const override { return "fit"; }
  std::string_view summary() const override {
    return "the largest batch that fits into memory, under every answer";
  }
  std::vector<Example> examples() const override;
  std::vector<Flag> flags() override { return fit_flags(options_); }
  int run(const Invocation& invocation) override;

 private:
  FitOptions options_;
};

}  // namespace lockstep::cli
