// ZeRO, stage 3: parameters, gradients and optimiser state are divided among the workers.
//
// The parameters of a layer (layer_choice.h) are gathered before its forward and again before its backward,
// and freed after each, the next layer being fetched meanwhile; its gradient is reduce-scattered as soon as
// it is there. So a step moves every parameter twice and every gradient once, and with accumulated gradients
// each part of the batch does.
//
// Validation, checkpoints and exported weights need whole tensors: settle() gathers all of them, and the next
// step divides them again.
#pragma once

#include <vector>

#include "lockstep/parallel/buffer_sync.h"
#include "lockstep/parallel/overlap.h"
#include "lockstep/parallel/strategy.h"
#include "lockstep/parallel/zero/layer_gradients.h"
#include "lockstep/parallel/zero/layer_values.h"

namespace lockstep::parallel {

class Zero3 : public Strategy {
 public:
  // Collective. Throws ConfigError for a model whose inside cannot be seen.
  explicit Zero3(const Surroundings& surroundings);
  ~Zero3() override;
  std::string_view name() const override { return "zero3"; }

  void begin() override;
  PartResult train_part(const StepPart& part) override;
  void finish_gradients() override;
  std::span<const Updatable> updatables() override { return updatables_; }
  double sum_over_updatables(double mine) override;
  void settle() override;

  bool overlapped() const override { return overlap_.now(); }
  bool replicas_differ() const override { return !buffers_.equal(); }
  bool updates_divided() const override { return true; }
  void restore(const nlohmann::json& state) override;

 private:
  Surroundings surroundings_;
  comm::Communicator& communicator_;
  models::Runner runner_;
  std::vector<Layer> layers_;
  LayerValues values_;
  LayerGradients gradients_;
  BufferSync buffers_;
  Overlap overlap_;
  std::vector<Updatable> updatables_;
  base::TimePoint step_began_;
};

}  // namespace lockstep::parallel
