// The replicas of strategy dp, as the run sees them: each is given what a worker has (a communicator, a
// ledger, a memory account, cores; on GPUs a stream of the device whose turn it is), and is reported as a
// rank with events of its own. Replica 0 has the process's own and reports as rank 0, as any worker does; the
// reports here are those of the others.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/comm/session.h"
#include "lockstep/models/hooks.h"
#include "lockstep/models/layers/sync_batch_norm.h"
#include "lockstep/parallel/dp/replica_source.h"
#include "lockstep/parallel/strategy.h"
#include "lockstep/train/disturbances.h"
#include "lockstep/train/network.h"
#include "lockstep/train/run_trace.h"
#include "lockstep/train/step_reporter.h"

namespace lockstep::train {

// Threads of each replica: as asked for, else its share of the cores.
int replica_threads(const record::RunSpec& spec);

struct ReplicasOptions {
  const record::RunSpec& spec;
  std::filesystem::path directory;  // of the run
  RunClock clock;
  comm::Session& session;
  parallel::ComputeQueue& first_compute;  // of replica 0
  measure::StepTimer& first_timer;        // likewise
  Disturbances first_disturbances;        // likewise
};

class Replicas {
 public:
  explicit Replicas(const ReplicasOptions& options);
  ~Replicas();

  int count() const { return static_cast<int>(options_.spec.workers); }
  // For whoever reads the record: what these replicas are not.
  std::optional<std::string> remark() const;
  // Where synchronised batch norms of one replica meet the others'; null when they are not synchronised.
  models::StatisticsExchange* statistics(int replica) const;
  // What the strategy is given. `build` makes a model in that place whose batch norms meet there; null:
  // nowhere.
  const parallel::ReplicaSource& source(
      std::function<models::Model(const Placement&, models::StatisticsExchange*)> build);

  // From here on: on the training thread, while no replica computes.
  void announce(const record::StartedEvent& started);
  void begin_step(std::int64_t step);
  // `facts`: what all replicas share.
  void end_step(const StepFacts& facts, const std::vector<parallel::ReplicaStep>& steps);
  void loss(double value);
  // After the last step: a GPU's figures of some are not known before.
  void end_steps();
  void report_memory();
  // Ledgers, and the fragments of the trace where one is asked for.
  void report_totals(const std::optional<TracePlace>& trace);
  // The last event.
  void end(const record::EventBody& last);

 private:
  struct Other;  // a replica that is not the first
  Other& other(int replica) const { return *others_[static_cast<std::size_t>(replica) - 1]; }
  measure::Ledger& ledger(int replica) const;
  parallel::ComputeQueue& compute(int replica) const;
  measure::StepTimer& timer(int replica) const;
  const Placement& placement(int replica) const { return placements_[static_cast<std::size_t>(replica)]; }
  int sharing_device_of(int replica) const;
  void limit_memory() const;
  std::vector<std::unique_ptr<comm::Communicator>> open_group() const;
  void make_outfits();
  void open_statistics();
  void note_failure(int replica, const std::exception_ptr& error) const;

  ReplicasOptions options_;
  std::vector<Placement> placements_;
  std::vector<Disturbances> disturbances_;
  std::vector<std::unique_ptr<Other>> others_;
  std::vector<std::unique_ptr<comm::Communicator>> communicators_;
  std::vector<std::unique_ptr<comm::Communicator>> statistics_channels_;
  std::vector<std::unique_ptr<models::StatisticsExchange>> statistics_;
  std::vector<std::unique_ptr<models::UnitHooks>> sleepers_;
  parallel::ReplicaSource source_;
};

}  // namespace lockstep::train
