// A strategy decides which tensors move between workers, when, and why. The training loop drives it:
//
//   for every step:  train_part() for each part of the batch, finish_gradients(), the optimiser over
//   updatables(),
//                    after_update()
//   for every epoch: end_epoch()
//
// Gradients: every worker divides its losses by the samples of the *global* batch, so the gradients of all
// workers add up to that of the whole batch, however unevenly it was divided.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/comm/communicator.h"
#include "lockstep/measure/ledger.h"
#include "lockstep/measure/memory_account.h"
#include "lockstep/measure/step_timer.h"
#include "lockstep/models/loss_kind.h"
#include "lockstep/models/model.h"
#include "lockstep/models/runner.h"
#include "lockstep/parallel/compute_queue.h"
#include "lockstep/record/figures.h"
#include "lockstep/record/spec.h"

namespace lockstep::parallel {

// One part of this worker's batch of a step (the whole of it unless gradients are accumulated).
struct StepPart {
  at::Tensor inputs;   // [count, channels, height, width]; count may be 0
  at::Tensor targets;  // [count] labels, or values
  models::PassKey key;
  double divisor = 1;      // samples of the step on all workers
  double own_samples = 0;  // samples of the step on this one
  bool first = true;       // of its step: gradients start from nothing
  bool last = true;        // of its step: gradients may go on their way
};

struct PartResult {
  at::Tensor loss;    // scalar: the sum of this part's losses over the divisor; without graph
  at::Tensor output;  // [count, ...]: without graph; undefined without samples
  base::TimePoint backward_began;
};

// What the optimiser of this worker updates: a parameter, or the part of one that is this worker's. The
// gradient is defined from finish_gradients() on and until the next train_part().
struct Updatable {
  std::string name;
  at::Tensor value;
  at::Tensor gradient;
};

// What one replica did in the last step, for a strategy that has several in this process (dp).
struct ReplicaStep {
  std::int64_t samples = 0;
  std::map<std::string, double> primitive_seconds;  // replicate, scatter, apply, gather, reduce
};

// Time of control messages.
struct ControlTime {
  base::Nanoseconds busy{0};
  base::Nanoseconds peer_wait{0};
};

struct ReplicaSource;

// What a strategy is given to work with. Everything outlives it.
struct Surroundings {
  const record::RunSpec& spec;
  models::Model& model;
  models::LossKind loss = models::LossKind::cross_entropy;
  comm::Communicator* communicator = nullptr;  // ordered with `compute`; null: one worker
  ComputeQueue& compute;
  measure::StepTimer& timer;
  measure::MemoryAccount& memory;
  const ReplicaSource* replicas = nullptr;            // dp: what its replicas are made of
  std::function<void(const std::string&)> warn = {};  // from any thread; may be empty
  const measure::Ledger* ledger = nullptr;            // where the communicator's messages are summed
  // Collective: opens a channel of that name between the same workers, for memory of the host, that never
  // waits for a device. Given where there is a communicator.
  std::function<std::unique_ptr<comm::Communicator>(const std::string& name)> host_channel = {};
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual std::string_view name() const = 0;

  // Once, before the first step (and after weights were loaded): makes all workers begin with the same state.
  virtual void begin() {}
  virtual PartResult train_part(const StepPart& part) = 0;
  // Returns when the gradients of the step are those of the global batch.
  virtual void finish_gradients() = 0;
  // Of a figure that is a sum over all updatables (a square norm): the sum over the whole model. Collective
  // where workers have parts of it.
  virtual double sum_over_updatables(double mine) { return mine; }
  // Valid until the strategy's next call.
  virtual std::span<const Updatable> updatables() = 0;
  virtual void after_update() {}
  virtual void end_epoch() {}
  // Once, after the last step of a run that ended by itself.
  virtual void end() {}
  // Called before a validation and before a checkpoint: the model's tensors are whole and what they should
  // be.
  virtual void settle() {}

  // The outputs for samples that are not trained with, after settle(). Undefined: nothing is special about
  // them, and the caller runs the model itself.
  virtual at::Tensor evaluate(const at::Tensor& /*inputs*/, const models::PassKey& /*key*/) { return {}; }

  // Whether the steps to come do what the last one did, with other values: no trial is going on, and nothing
  // will be laid out anew.
  virtual bool steady() const { return true; }
  // Whether gradients of the last step were on their way while backward went on.
  virtual bool overlapped() const { return false; }
  // Whether workers' parameters differ now, until end_epoch() makes them equal: each is then judged before,
  // too.
  virtual bool parameters_differ() const { return false; }
  // Whether workers' models may differ after settle() (statistics that each keeps for itself): a checkpoint
  // then has a part of every rank.
  virtual bool replicas_differ() const { return false; }
  // Whether every worker updates a part of the model only: a checkpoint then has each one's optimiser state.
  virtual bool updates_divided() const { return false; }
  // Bucket times of the last step, if there are any.
  virtual std::vector<record::BucketTimes> bucket_times() { return {}; }
  // Squared norms of the last step's gradient, where it was looked at.
  virtual std::optional<record::SquareNorm> square_norm() const { return {}; }
  // What a strategy that negotiates in the background has exchanged so far. Whole after settle().
  virtual std::optional<record::ControlFigures> control() const { return {}; }
  // Of a strategy whose control messages go on in the background all the time, mostly waiting: the part of
  // their time that the last step waited for. Nothing: all of it belongs to the step.
  virtual std::optional<ControlTime> waited_for_control() const { return {}; }
  // One for each replica of this process; empty: there is one, and it is the worker.
  virtual std::vector<ReplicaStep> replica_steps() { return {}; }
  // What a resumed run must know to go on with the same bits (a bucket layout, say). Whole after settle().
  virtual nlohmann::json state() const { return nlohmann::json::object(); }
  virtual void restore(const nlohmann::json&) {}
};

// What this build has, by name.
std::vector<std::string> strategy_names();

// The strategy that a resolved spec names (not `auto`). Throws ConfigError when there is none.
std::unique_ptr<Strategy> make_strategy(const Surroundings& surroundings);

}  // namespace lockstep::parallel
