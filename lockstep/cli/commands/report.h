// lockstep report: tables, charts and words about a study or about runs.
#pragma once

#include <filesystem>
#include <optional>

#include "lockstep/cli/command.h"
#include "lockstep/cli/report/report_output.h"

namespace lockstep::cli {

class ReportCommand : public Command {
 public:
  std::string_view name() const override { return "report"; }
  std::string_view summary() const override { return "tables, charts and words about a study or runs"; }
  std::vector<Example> examples() const override;
  std::vector<Flag> flags() override;
  int run(const Invocation& invocation) override;

 private:
  std::vector<std::string> names_;
  std::vector<std::string> only_;
  std::optional<std::filesystem::path> store_;
  ReportOutput output_;
};

}  // namespace lockstep::cli
