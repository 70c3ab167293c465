// The training loop of one rank.
#pragma once

#include <functional>
#include <optional>

#include "lockstep/data/loader.h"
#include "lockstep/parallel/strategy.h"
#include "lockstep/train/agreement.h"
#include "lockstep/train/checkpointer.h"
#include "lockstep/train/disturbances.h"
#include "lockstep/train/inputs.h"
#include "lockstep/train/loss_reducer.h"
#include "lockstep/train/optimizer.h"
#include "lockstep/train/progress.h"
#include "lockstep/train/repeated_step.h"
#include "lockstep/train/schedule.h"
#include "lockstep/train/step_reporter.h"
#include "lockstep/train/stop_rule.h"
#include "lockstep/train/target.h"

namespace lockstep::train {

class Replicas;

// What the loop works with; everything outlives it.
struct TrainerParts {
  const record::RunSpec& spec;
  models::Model& model;
  models::LossKind loss;
  parallel::Strategy& strategy;
  Optimizer& optimizer;
  const Schedule& schedule;
  data::Loader& train_data;
  data::Loader* validation_data;  // null: no validation
  Inputs& inputs;
  comm::Communicator* communicator;  // null: one worker
  parallel::ComputeQueue& compute;
  measure::StepTimer& timer;
  measure::Ledger& ledger;
  EventLog& events;
  Checkpointer& checkpointer;
  Agreement& agreement;
  const Disturbances& disturbances;
  Replicas* replicas = nullptr;                 // dp; they are reported with the steps
  std::function<void()> report_totals = [] {};  // after each epoch: a run that dies keeps what it had
  // Collective, without waiting for a device: whether all workers say yes.
  std::function<bool(bool)> all_agree = [](bool yes) { return yes; };
};

// How training ended: by itself, or by an interruption.
struct Ending {
  std::optional<Interrupter> interrupter;
};

class Trainer {
 public:
  Trainer(const TrainerParts& parts, const Progress& from);

  // Trains until a limit, a target or an interruption.
  Ending run();

  const Progress& progress() const { return progress_; }
  const std::optional<record::TargetFigures>& target() const { return target_.figures(); }
  std::optional<double> share_of_other() const { return reporter_.share_of_other(); }

 private:
  void watch_memory();
  void train_step();
  DeviceBatch next_batch();
  at::Tensor compute(const DeviceBatch& batch);
  at::Tensor run_parts(const DeviceBatch& batch);
  at::Tensor run_part(const DeviceBatch& part, std::int64_t own_samples, bool first, bool last);
  void update();
  void end_step(const DeviceBatch& batch, const at::Tensor& loss);
  void begin_step();
  void report_step(const DeviceBatch& batch);
  void take_loss();
  void end_epoch();
  Metrics validate();
  void keep_tally();
  bool wants_validation(std::int64_t epochs_done, bool last) const;
  void end_epoch_of_strategy();
  record::EpochEvent epoch_event(std::int64_t epoch) const;
  void write_unfinished_epoch();
  void write_epoch(std::int64_t epochs_done, const std::optional<Metrics>& validation,
                   const std::optional<Metrics>& before_averaging, const EpochMetrics& all);
  void save_checkpoint();
  void say_if_rarer(const std::optional<base::Nanoseconds>& interval);

  TrainerParts parts_;
  Progress progress_;
  const std::int64_t began_with_;  // steps that an earlier run had done
  StepReporter reporter_;
  LossReducer losses_;
  Tally tally_;  // of the epoch that runs
  StopRule stop_;
  Target target_;
  RepeatedStep repeated_;
  bool target_reached_ = false;
  bool continuous_ = false;                   // the step that comes follows the last one without a pause
  std::optional<std::int64_t> pending_loss_;  // the step, counted from 1, whose loss is on its way
  bool epoch_ended_ = false;
  std::int64_t saved_at_ = -1;  // steps done when the last checkpoint was written
};

}  // namespace lockstep::train
