#include "lockstep/cli/bench/bench_replicas.h"

#include <exception>
#include <mutex>
#include <thread>

#include "lockstep/cli/bench/bench_conclusion.h"
#include "lockstep/cli/bench/bench_runner.h"
#include "lockstep/cli/run_machine.h"
#include "lockstep/comm/local/local_backend.h"
#include "lockstep/comm/wrappers/recording.h"

namespace lockstep::cli {
namespace {

using Replicas = std::vector<std::shared_ptr<comm::Communicator>>;

Replicas open_replicas(const BenchOptions& options, int count, measure::Ledger& ledger) {
  comm::OpenOptions open;
  open.timeout = options.timeout;
  Replicas replicas;
  for (auto& opened : comm::open_local_group(count, open))
    replicas.push_back(std::make_shared<comm::RecordingCommunicator>(std::move(opened), ledger));
  return replicas;
}

// Keeps the first failure and ends the other replicas, which would wait for the failed one in vain.
class FirstFailure {
 public:
  void report(std::exception_ptr failure, const Replicas& replicas) {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = failure;
    for (const auto& replica : replicas) replica->abort("another replica failed");
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

int run_bench_replicas(const BenchOptions& options, int replicas, const comm::Registry& registry,
                       const Console& console) {
  measure::Ledger ledger;
  const Replicas opened = open_replicas(options, replicas, ledger);
  const std::string detail = registry.find("local").availability().detail;
  Progress progress(options.progress);
  BenchReport report;
  FirstFailure failure;
  const auto run_replica = [&](std::size_t rank) {
    try {
      const bool first = rank == 0;
      BenchReport own =
          BenchRunner(options, {{"local", detail, "auto", opened[rank]}}, first ? &progress : nullptr).run();
      if (first) report = std::move(own);
    } catch (...) {
      failure.report(std::current_exception(), opened);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < opened.size(); ++rank) threads.emplace_back(run_replica, rank);
  for (std::thread& thread : threads) thread.join();
  failure.rethrow();
  report.machine = run_machine();
  conclude_bench(options, std::move(report), "threads of one process", console);
  return 0;
}

}  // namespace lockstep::cli
