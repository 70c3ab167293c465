// lockstep train: one run, from flags or a spec file.
#pragma once

#include "lockstep/cli/command.h"
#include "lockstep/cli/train/train_options.h"

namespace lockstep::cli {

class TrainCommand : public Command {
 public:
  std::string_view name() const override { return "train"; }
  std::string_view summary() const override {
    return "train a network on one or many workers, and measure it";
  }
  std::vector<Example> examples() const override;
  std::vector<Flag> flags() override { return train_flags(options_); }
  int run(const Invocation& invocation) override;

 private:
  TrainOptions options_;
};

}  // namespace lockstep::cli
