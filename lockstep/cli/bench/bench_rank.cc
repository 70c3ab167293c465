#include "lockstep/cli/bench/bench_rank.h"

#include <nlohmann/json.hpp>

#include "lockstep/base/environment.h"
#include "lockstep/base/log.h"
#include "lockstep/cli/bench/bench_json.h"
#include "lockstep/cli/bench/bench_runner.h"
#include "lockstep/cli/bench/bench_table.h"
#include "lockstep/cli/version.h"
#include "lockstep/device/machine_facts.h"

namespace lockstep::cli {
namespace {

std::string algorithm_for(const BenchOptions& options, const std::string& backend) {
  const auto found = options.algorithms.find(backend);
  return found == options.algorithms.end() ? "auto" : found->second;
}

std::vector<OpenBackend> open_backends(const BenchOptions& options, const comm::Registry& registry,
                                       comm::Session& session) {
  std::vector<OpenBackend> backends;
  for (const std::string& name : options.backends) {
    comm::OpenOptions open;
    open.timeout = options.timeout;
    open.channel = "bench-" + name;
    open.interface = options.interface;
    open.algorithm = algorithm_for(options, name);
    backends.push_back(
        {name, registry.find(name).availability().detail, open.algorithm, session.open(name, open)});
  }
  return backends;
}

std::string source_of(const comm::Identity& identity) {
  return base::environment("LOCKSTEP_SERVER") ? "our launcher" : identity.source;
}

void run_session(const BenchOptions& options, const comm::Identity& identity, const comm::Registry& registry,
                 const Console& console, comm::Session& session) {
  const bool prints = identity.group.rank == 0;
  Progress progress(prints ? options.progress : "none", progress_fd());
  BenchReport report = BenchRunner(options, open_backends(options, registry, session), &progress).run();
  if (!prints) return;
  report.version = version();
  report.machine = device::machine_facts();
  report.rank_source = source_of(identity);
  conclude_bench(options, report, console);
}

}  // namespace

int run_bench_rank(const BenchOptions& options, const comm::Identity& identity,
                   const comm::Registry& registry, const Console& console) {
  comm::SessionOptions session_options;
  session_options.timeout = options.timeout;
  session_options.join_timeout = options.join_timeout;
  comm::Session session(identity, registry, session_options);
  return session.run(
      [&](comm::Session& joined) { run_session(options, identity, registry, console, joined); });
}

void conclude_bench(const BenchOptions& options, const BenchReport& report, const Console& console) {
  try {
    console.print(options.json ? bench_json(report).dump(2) + "\n" : bench_table(report));
  } catch (const ReaderGone&) {
    base::log_debug("the reader of the results is gone");
  }
  require_right(report);
  if (options.min_busbw) require_fast(report, *options.min_busbw);
}

}  // namespace lockstep::cli
