#include "lockstep/lab/run_list.h"

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/lab/conclude.h"

namespace lockstep::lab {
namespace {

namespace fs = std::filesystem;

ListedRun listed(const fs::path& path) {
  ListedRun run{RunDirectory(path), std::nullopt, ""};
  if (!run.directory.has_record()) return run;
  try {
    run.record = read_record(run.directory);
  } catch (const base::StoreError& error) {
    run.damage = error.what();
  }
  return run;
}

}  // namespace

std::vector<ListedRun> list_runs(const fs::path& store) {
  std::vector<fs::path> paths;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(runs_of(store), ignored))
    if (fs::is_regular_file(entry.path() / "spec.json", ignored)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<ListedRun> runs;
  for (const fs::path& path : paths) runs.push_back(listed(path));
  return runs;
}

}  // namespace lockstep::lab
