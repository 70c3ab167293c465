// One replica of dp: a copy of the model, and what its thread does in a step. All functions are called on the
// replica's own thread.
#pragma once

#include <memory>
#include <optional>

#include "lockstep/models/runner.h"
#include "lockstep/parallel/dp/primitive_clock.h"
#include "lockstep/parallel/dp/replica_gradients.h"
#include "lockstep/parallel/dp/replica_source.h"
#include "lockstep/parallel/dp/replication.h"
#include "lockstep/parallel/dp/row_exchange.h"
#include "lockstep/record/spec.h"

namespace lockstep::parallel {

// The switches: what PyTorch's DataParallel does and the plain one does not.
struct DpOptions {
  std::optional<std::uint64_t> broadcast_piece_bytes;  // replicate by pieces; unset: tensor by tensor
  std::optional<std::uint64_t> reduce_piece_bytes;     // reduce by pieces; unset: tensor by tensor
  bool threaded_scatter = false;                       // every replica takes its own rows
  bool keep_originals = false;                         // replica 0 computes on the originals themselves

  static DpOptions of(const record::RunSpec& spec);
};

class Replica {
 public:
  // Builds the copy of the model, unless replica 0 computes on the originals. Everything outlives it.
  Replica(int number, models::Model& originals, const ReplicaSource& source, const DpOptions& options);

  int number() const { return number_; }
  measure::StepTimer& timer() { return *outfit_.timer; }
  PrimitiveClock& clock() { return clock_; }
  ReplicaGradients& gradients() { return gradients_; }

  // Forgets the step before, and replicates.
  void begin_step();
  void replicate();
  at::Tensor scatter(const at::Tensor& whole, const RowShape& shape, const std::vector<RowShare>& shares,
                     measure::Purpose purpose);
  at::Tensor gather(const at::Tensor& rows, const RowShape& shape, const std::vector<RowShare>& shares);
  at::Tensor forward(const at::Tensor& inputs, const models::PassKey& key);
  void backward(const at::Tensor& output, const at::Tensor& output_gradient);
  // Reduces; on replica 0 the buffers that its passes have moved become the originals'.
  void end_step();

  std::int64_t samples = 0;  // rows that this replica had in the step
  bool waits = false;        // between two turns, in a span of its timer

 private:
  models::PassKey own_key(const models::PassKey& key);

  int number_;
  const ReplicaOutfit& outfit_;
  std::optional<models::Model> copy_;
  models::Model& model_;
  models::Runner runner_;
  Replication replication_;
  ReplicaGradients gradients_;
  RowExchange rows_;
  PrimitiveClock clock_;
  at::Tensor key_words_;  // on a GPU: of the pass that runs
};

}  // namespace lockstep::parallel
