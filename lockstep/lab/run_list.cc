#include "lockstep/lab/run_list.h"

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/lab/conclude.h"

namespace lockstep::lab {

namespace fs = std::filesystem;

ListedRun list_run(const fs::path& path) {
  ListedRun run{RunDirectory(path), std::nullopt, ""};
  if (!run.directory.has_record()) return run;
  try {
    run.record = read_record(run.directory);
  } catch (const base::StoreError& error) {
    run.damage = error.what();
  }
  return run;
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
