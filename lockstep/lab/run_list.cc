#include "lockstep/lab/run_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/log.h"
#include "lockstep/lab/conclude.h"

namespace lockstep::lab {

namespace fs = std::filesystem;

ListedRun list_run(const fs::path& path) {
  ListedRun run{RunDirectory(path), std::nullopt, ""};
  if (!run.directory.has_record()) return run;
  try {
    run.record = read_record(run.directory);
  } catch (const std::exception& error) {
    run.damage = error.what();
  }
  return run;
}

void take_record(std::vector<record::RunRecord>& records, ListedRun run) {
  if (run.record) return records.push_back(std::move(*run.record));
  if (run.damage.empty()) return;
  const std::string id = run.directory.id();
  base::log_warning(
      fmt::format("run {} is left out: {} Next step: lockstep runs rm {} --force, and run it again.", id,
                  run.damage, id));
}

std::vector<ListedRun> list_runs(const fs::path& store) {
  std::vector<fs::path> paths;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(runs_of(store), ignored))
    if (entry.path().filename().string().front() != '.' &&
        fs::is_regular_file(entry.path() / "spec.json", ignored))
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<ListedRun> runs;
  for (const fs::path& path : paths) runs.push_back(list_run(path));
  return runs;
}

}  // namespace lockstep::lab
