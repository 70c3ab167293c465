// lockstep bench: times and checks collectives over one or several backends.
#pragma once

#include "lockstep/cli/bench/bench_options.h"
#include "lockstep/cli/command.h"

namespace lockstep::cli {

class BenchCommand : public Command {
 public:
  std::string_view name() const override { return "bench"; }
  std::string_view summary() const override {
    return "time and check collectives, in the manner of nccl-tests";
  }
  std::vector<Example> examples() const override;
  std::vector<Flag> flags() override { return bench_flags(options_); }
  int run(const Invocation& invocation) override;

 private:
  BenchOptions options_;
};

}  // namespace lockstep::cli
