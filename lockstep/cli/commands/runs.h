// lockstep runs: the runs of a store.
#pragma once

#include <filesystem>
#include <optional>

#include "lockstep/cli/command.h"

namespace lockstep::cli {

class RunsCommand : public Command {
 public:
  std::string_view name() const override { return "runs"; }
  std::string_view summary() const override { return "the runs that are kept: list, show, remove"; }
  std::vector<Example> examples() const override;
  std::vector<Flag> flags() override;
  int run(const Invocation& invocation) override;

 private:
  int list(const Console& console) const;
  int show(const std::string& id, const Console& console) const;
  int show_spec(const std::string& id, const Console& console) const;
  int remove(const std::vector<std::string>& ids, const Console& console) const;
  std::filesystem::path store() const;

  std::vector<std::string> words_;  // list | show ID | rm ID...
  std::optional<std::filesystem::path> store_;
  bool json_ = false;
  bool spec_ = false;
  bool force_ = false;
};

}  // namespace lockstep::cli
