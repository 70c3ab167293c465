// Local SGD: every worker steps alone, and now and then all of them take the mean of their parameters.
//
// The mean weighs each worker by the samples it has trained with since the last one, so that averaging after
// every step is one step of the global batch (for updates that are linear in the gradient), however unevenly
// the batch was divided. Optimiser state stays with its worker.
#pragma once

#include <optional>

#include "lockstep/parallel/buckets.h"
#include "lockstep/parallel/buffer_sync.h"
#include "lockstep/parallel/single.h"
#include "lockstep/parallel/strategy.h"

namespace lockstep::parallel {

class LocalSgd : public Strategy {
 public:
  // Collective.
  explicit LocalSgd(const Surroundings& surroundings);
  std::string_view name() const override { return "localsgd"; }

  void begin() override;
  PartResult train_part(const StepPart& part) override;
  void finish_gradients() override { local_.finish_gradients(); }
  std::span<const Updatable> updatables() override { return local_.updatables(); }
  void after_update() override;
  void end_epoch() override { average(); }
  void end() override { average(); }

  bool parameters_differ() const override { return steps_alone_ > 0; }
  // Each worker has its own optimiser state, also where parameters are equal.
  bool replicas_differ() const override { return true; }
  nlohmann::json state() const override;
  void restore(const nlohmann::json& state) override;

 private:
  void average();
  void weigh_into_buckets();
  void take_from_buckets();

  Surroundings surroundings_;
  comm::Communicator& communicator_;
  Single local_;
  std::vector<at::Tensor> parameters_;
  Buckets buckets_;
  BufferSync buffers_;
  std::optional<std::int64_t> local_steps_;  // none: an epoch

  // Since the last averaging.
  std::int64_t steps_alone_ = 0;
  double own_samples_ = 0;
  double all_samples_ = 0;
  std::int64_t steps_done_ = 0;
};

}  // namespace lockstep::parallel
