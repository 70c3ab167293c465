#include "lockstep/cli/bench/bench_conclusion.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/cli/bench/bench_json.h"
#include "lockstep/cli/bench/bench_table.h"
#include "lockstep/cli/run_machine.h"
#include "lockstep/cli/version.h"
#include "lockstep/measure/whole_file.h"

namespace lockstep::cli {
void require_place_for(const std::filesystem::path& json_file) {
  if (json_file.empty()) return;
  const std::filesystem::path directory = json_file.has_parent_path() ? json_file.parent_path() : ".";
  std::error_code ignored;
  const bool writable = std::filesystem::is_directory(directory, ignored) &&
                        !std::filesystem::is_directory(json_file, ignored) &&
                        ::access(directory.c_str(), W_OK | X_OK) == 0;
  if (!writable)
    throw base::ConfigError(fmt::format("--json-file {}: no file can be written there.", json_file.string()));
}

void conclude_bench(const BenchOptions& options, BenchReport report, const std::string& rank_source,
                    const Console& console) {
  report.version = version();
  report.machine = run_machine();
  report.rank_source = rank_source;
  const std::string document = bench_json(report).dump(2) + "\n";
  try {
    console.print(options.json ? document : bench_table(report));
  } catch (const ReaderGone&) {
    base::log_debug("the reader of the results is gone");
  }
  if (!options.json_file.empty())
    measure::write_whole_file(options.json_file, [&](std::ostream& out) { out << document; });
  require_right(report);
  if (options.min_busbw) require_fast(report, *options.min_busbw);
}

}  // namespace lockstep::cli
