#include "lockstep/cli/bench/bench_rank.h"

#include <optional>

#include "lockstep/base/durable.h"
#include "lockstep/cli/bench/bench_conclusion.h"
#include "lockstep/cli/bench/bench_runner.h"
#include "lockstep/cli/bench/plan_check.h"
#include "lockstep/cli/log_identity.h"
#include "lockstep/cli/run_machine.h"
#include "lockstep/launch/log_directory.h"

namespace lockstep::cli {
namespace {

std::vector<std::string> algorithms_for(const BenchOptions& options, const std::string& backend) {
  const auto found = options.algorithms.find(backend);
  return found == options.algorithms.end() ? std::vector<std::string>{"auto"} : found->second;
}

// One communicator for every algorithm of every backend.
std::vector<OpenBackend> open_backends(const BenchOptions& options, const comm::Registry& registry,
                                       comm::Session& session) {
  std::vector<OpenBackend> backends;
  for (const std::string& name : options.backends)
    for (const std::string& algorithm : algorithms_for(options, name)) {
      comm::OpenOptions open;
      open.timeout = options.timeout;
      open.channel = "bench-" + name + "-" + algorithm;
      open.algorithm = algorithm;
      backends.push_back(
          {name, registry.find(name).availability().detail, algorithm, session.open(name, open)});
    }
  return backends;
}

// Says which source won, and which others say something else.
BenchReport measure(const BenchOptions& options, const comm::Registry& registry, comm::Session& session) {
  require_same_plan(options, session);
  Progress progress(session.group().rank == 0 ? options.progress : "none");
  return BenchRunner(options, open_backends(options, registry, session), &progress).run();
}

}  // namespace

// The report is judged after the session has ended well: a missed threshold is no failure of the ranks.
int run_bench_rank(const BenchOptions& options, const comm::Identity& identity,
                   const comm::Registry& registry, const Console& console) {
  log_identity(identity);
  comm::SessionOptions session_options;
  session_options.timeout = options.timeout;
  session_options.join_timeout = options.join_timeout;
  session_options.interface = options.interface;
  session_options.meeting_directory = launch::default_store();
  BenchReport report;
  std::optional<base::PrivateFiles> alone(std::in_place, true);  // the store may be made now
  const int code = comm::run_session(identity, registry, session_options, [&](comm::Session& session) {
    report = measure(options, registry, session);
    report.machine = run_machine(session.group().local_world);
  });
  alone.reset();
  const std::string source = identity.launcher_serves ? "our launcher" : identity.source;
  if (code == 0 && identity.group.rank == 0) conclude_bench(options, std::move(report), source, console);
  return code;
}

}  // namespace lockstep::cli
