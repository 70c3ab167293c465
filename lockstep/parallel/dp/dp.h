// DataParallel: one process with N replicas, each a thread with its own cores and memory account, or with a
// stream of a GPU. A step is made of five primitives:
//
//   replicate  the originals' parameters and buffers to every replica
//   scatter    the rows of the batch to the replicas; in backward, the gradients of their outputs
//   apply      forward, and later backward, of each replica on its own rows, side by side
//   gather     the outputs onto replica 0, which computes the loss over the whole batch
//   reduce     the replicas' gradients, added up on replica 0, whose optimiser updates the originals
//
// Everything that crosses replicas goes through the communicators of backend local, and is in their ledgers.
// Targets stay where the loss is. Of the buffers those of replica 0 are kept: only its rows move batch-norm
// statistics, unless batch norms are synchronised. Replicas without rows (the last batch may have fewer rows
// than there are replicas) take part in everything and add nothing.
#pragma once

#include <memory>
#include <vector>

#include "lockstep/parallel/dp/output_shape.h"
#include "lockstep/parallel/dp/replica.h"
#include "lockstep/parallel/dp/replica_crew.h"
#include "lockstep/parallel/strategy.h"

namespace lockstep::parallel {

class Dp : public Strategy {
 public:
  explicit Dp(const Surroundings& surroundings);
  ~Dp() override;
  std::string_view name() const override { return "dp"; }

  PartResult train_part(const StepPart& part) override;
  // The last part has reduced them already.
  void finish_gradients() override;
  std::span<const Updatable> updatables() override { return updatables_; }
  at::Tensor evaluate(const at::Tensor& inputs, const models::PassKey& key) override;
  std::vector<ReplicaStep> replica_steps() override;

 private:
  void train_rows(Replica& replica, const StepPart& part, PartResult& result);
  bool applies(const RowShare& share) const;
  // On replica 0: the loss over all outputs, and its gradient; undefined at the others.
  at::Tensor loss_gradient(Replica& replica, const at::Tensor& outputs, const StepPart& part,
                           PartResult& result);
  Replica& replica(int number) { return *replicas_[static_cast<std::size_t>(number)]; }

  Surroundings surroundings_;
  const ReplicaSource& source_;
  DpOptions options_;
  OutputShape output_shape_;
  ReplicaCrew crew_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<Updatable> updatables_;
};

}  // namespace lockstep::parallel
