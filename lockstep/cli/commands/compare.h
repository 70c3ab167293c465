// lockstep compare: two runs or studies, with intervals.
#pragma once

#include <filesystem>
#include <optional>

#include "lockstep/cli/command.h"

namespace lockstep::cli {

class CompareCommand : public Command {
 public:
  std::string_view name() const override { return "compare"; }
  std::string_view summary() const override {
    return "two runs or studies beside each other, with intervals";
  }
  std::vector<Example> examples() const override;
  std::vector<Flag> flags() override;
  int run(const Invocation& invocation) override;

 private:
  std::vector<std::string> sides_;
  std::vector<std::string> figures_;
  std::optional<double> threshold_;
  std::optional<std::filesystem::path> store_;
  bool json_ = false;
};

}  // namespace lockstep::cli
