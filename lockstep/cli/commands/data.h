// lockstep data: the data sets there are, where they were looked for, and getting one.
#pragma once

#include <filesystem>
#include <optional>

#include "lockstep/cli/command.h"

namespace lockstep::cli {

class DataCommand : public Command {
 public:
  std::string_view name() const override { return "data"; }
  std::string_view summary() const override {
    return "the data sets there are, where they lie, and getting one";
  }
  std::vector<Example> examples() const override;
  std::vector<Flag> flags() override;
  int run(const Invocation& invocation) override;

 private:
  int get(const std::vector<std::string>& names, const Console& console) const;

  std::vector<std::string> words_;  // [get NAME...]
  std::optional<std::filesystem::path> data_dir_;
  std::string progress_ = "auto";
  bool json_ = false;
};

}  // namespace lockstep::cli
