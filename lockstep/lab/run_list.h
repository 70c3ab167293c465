// What a store holds, told from the runs' records alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/lab/run_directory.h"
#include "lockstep/record/record.h"

namespace lockstep::lab {

struct ListedRun {
  RunDirectory directory;
  std::optional<record::RunRecord> record;  // none: still running, or killed before it was written
  std::string damage;                       // why a record that is there cannot be read
};

// One run. Never throws for what is in its files.
ListedRun list_run(const std::filesystem::path& directory);

// Adds the run's record, where it has one. One that cannot be read is named in a warning and left out.
void take_record(std::vector<record::RunRecord>& records, ListedRun run);

// The oldest first. A store that does not exist holds nothing.
std::vector<ListedRun> list_runs(const std::filesystem::path& store);

}  // namespace lockstep::lab
