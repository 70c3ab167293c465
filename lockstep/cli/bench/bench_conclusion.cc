#include "lockstep/cli/bench/bench_conclusion.h"

#include <nlohmann/json.hpp>

#include "lockstep/base/log.h"
#include "lockstep/cli/bench/bench_json.h"
#include "lockstep/cli/bench/bench_table.h"
#include "lockstep/cli/run_machine.h"
#include "lockstep/cli/version.h"

namespace lockstep::cli {

void conclude_bench(const BenchOptions& options, BenchReport report, const std::string& rank_source,
                    const Console& console) {
  report.version = version();
  report.machine = run_machine();
  report.rank_source = rank_source;
  try {
    console.print(options.json ? bench_json(report).dump(2) + "\n" : bench_table(report));
  } catch (const ReaderGone&) {
    base::log_debug("the reader of the results is gone");
  }
  require_right(report);
  if (options.min_busbw) require_fast(report, *options.min_busbw);
}

}  // namespace lockstep::cli
