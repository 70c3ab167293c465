// lockstep runs: the runs of a store.
#pragma once

#include <filesystem>
#include <optional>

#include "lockstep/cli/command.h"
#include "lockstep/record/record.h"

namespace lockstep::cli {

class RunsCommand : public Command {
 public:
  std::string_view name() const override { return "runs"; }
  std::string_view summary() const override {
    return "the runs that are kept: list, show, export, import, conclude, remove";
  }
  std::vector<Example> examples() const override;
  std::vector<Flag> flags() override;
  int run(const Invocation& invocation) override;

 private:
  using Words = std::vector<std::string>;
  int list(const Words& names, const Console& console) const;
  int show(const Words& ids, const Console& console) const;
  int show_spec(const std::string& id, const Console& console) const;
  int conclude(const Words& ids, const Console& console) const;
  int remove(const Words& names, const Console& console) const;
  int take_out(const Words& names, const Console& console) const;
  int take_in(const Words& files, const Console& console) const;
  int reindex(const Words& names, const Console& console) const;
  std::vector<record::RunRecord> chosen_records(const Words& names) const;
  std::string whole_study(const Words& names) const;
  int hand_out(const std::string& text, const std::string& what, const Console& console) const;
  std::filesystem::path store() const;

  Words words_;  // list | show ID | export ... | import FILE... | conclude ID... | rm ID... | reindex
  std::optional<std::filesystem::path> store_;
  std::string study_;
  std::string format_ = "jsonl";
  std::filesystem::path output_;
  bool json_ = false;
  bool spec_ = false;
  bool force_ = false;
  bool shared_ = false;
};

}  // namespace lockstep::cli
