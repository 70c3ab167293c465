// One worker, no communication: what everything else is compared with.
#pragma once

#include "lockstep/models/gradient_slot.h"
#include "lockstep/parallel/gradient_tap.h"
#include "lockstep/parallel/strategy.h"

namespace lockstep::parallel {

class Single : public Strategy {
 public:
  explicit Single(const Surroundings& surroundings);
  ~Single() override;
  std::string_view name() const override { return "single"; }

  PartResult train_part(const StepPart& part) override;
  void finish_gradients() override;
  std::span<const Updatable> updatables() override { return updatables_; }

 private:
  void give_slots();
  void forget_gradients();

  Surroundings surroundings_;
  models::Runner runner_;
  std::vector<Updatable> updatables_;
  std::vector<std::shared_ptr<models::GradientSlot>> slots_;  // of the same parameters
  GradientTap tap_;                                           // last: it calls into what stands above
};

}  // namespace lockstep::parallel
