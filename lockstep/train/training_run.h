// One rank of a training run, from its spec to its last event.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "lockstep/comm/session.h"
#include "lockstep/data/data_set.h"
#include "lockstep/measure/memory_account.h"
#include "lockstep/measure/trace.h"
#include "lockstep/measure/utilisation.h"
#include "lockstep/models/layers/sync_batch_norm.h"
#include "lockstep/train/disturbances.h"
#include "lockstep/train/event_log.h"
#include "lockstep/train/interruptions.h"
#include "lockstep/train/run_trace.h"
#include "lockstep/train/trainer.h"

namespace lockstep::train {

struct RunPlace {
  record::RunSpec spec;             // resolved: nothing is `auto` that must be known before training
  std::filesystem::path directory;  // of the run
  RunClock clock;
  Disturbances disturbances;  // of this rank, for tests
  Interruptions& interruptions;
};

// This rank's part of a run; all ranks of the session make one with the same spec. Events go to `events`;
// what is taken on the worker's device is counted in `memory`.
class TrainingRun {
 public:
  TrainingRun(const RunPlace& place, comm::Session& session, EventLog& events,
              const std::shared_ptr<measure::MemoryAccount>& memory);
  ~TrainingRun();
  // Interrupted: a signal came, and a checkpoint was written. Throws what else ends the run early.
  Ending run();

 private:
  void announce();
  void warn(const std::string& message);
  void warn_if_nothing_is_left(const Progress& from);
  void prepare();
  void load_data();
  void open_communicator();
  comm::OpenOptions open_options(const std::string& channel);
  std::unique_ptr<comm::Communicator> open_host_channel(const std::string& name);
  std::function<bool(bool)> all_agree();
  void build();
  Network make_network(const Placement& placement, models::StatisticsExchange* statistics) const;
  models::StatisticsExchange* open_statistics();
  const parallel::ReplicaSource* replica_source();
  void write_remarks();
  Ending train();
  Ending run_to_the_end(Trainer& trainer);
  void stop_communicating() noexcept;
  void conclude(const Trainer& trainer, const Progress& from, const Ending& ending);
  void end(const record::EventBody& last);
  comm::Group reporting_group() const;
  void report_totals();
  void report_so_far();
  record::LedgerEvent own_ledger() const;
  std::optional<TracePlace> trace_place() const;
  void write_trace();
  void report_memory();
  bool counts_memory(const std::shared_ptr<measure::MemoryAccount>& memory) const;
  void report_utilisation();
  void warn_about_other(const Trainer& trainer);
  void export_weights();
  void save_weights(const std::string& file) const;

  const RunPlace& place_;
  const record::RunSpec& spec_;
  comm::Session& session_;
  EventLog& events_;
  measure::MemoryAccount& memory_;
  base::TimePoint began_;
  double load_seconds_ = 0;

  Placement placement_;
  std::unique_ptr<measure::TraceRecorder> trace_;  // null: none is asked for
  std::unique_ptr<parallel::ComputeQueue> compute_;
  std::unique_ptr<measure::StepTimer> timer_;
  measure::UtilisationSampler utilisation_;
  bool memory_is_counted_;
  std::unique_ptr<comm::Communicator> communicator_;  // null: one worker
  std::unique_ptr<comm::Communicator> agreement_channel_;
  measure::Reservation communicator_memory_;
  std::shared_ptr<const data::SampleSet> train_set_;
  std::shared_ptr<const data::SampleSet> validation_set_;
  std::unique_ptr<comm::Communicator> statistics_channel_;  // null: the communicator is theirs too
  std::unique_ptr<models::StatisticsExchange> statistics_;
  std::unique_ptr<Replicas> replicas_;  // dp only
  std::optional<Network> network_;
  std::unique_ptr<models::UnitHooks> sleeper_;
  std::unique_ptr<parallel::GradientTap> withholder_;
  std::unique_ptr<parallel::Strategy> strategy_;
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace lockstep::train
