// What all update rules share: state, the count of steps, and the choice between our kernels (host memory)
// and ATen's operations on lists of tensors (a GPU).
#pragma once

#include <string>
#include <vector>

#include "lockstep/train/optimizer.h"
#include "lockstep/train/optimizers/host_list.h"
#include "lockstep/train/optimizers/parameter_state.h"

namespace lockstep::train {

// The tensors of one step, side by side; what bf16 parameters and their gradients become is f32.
struct DeviceLists {
  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> gradients;
  std::vector<at::Tensor> first;   // empty where the rule has none
  std::vector<at::Tensor> second;  // the same
};

class FusedOptimizer : public Optimizer {
 public:
  void step(std::span<const parallel::Updatable> updatables, double learning_rate) final;
  int state_tensors() const final { return state_.kinds(); }
  std::vector<models::NamedTensor> state() const final;
  void load_state(std::span<const parallel::Updatable> updatables,
                  const std::vector<models::NamedTensor>& state) final;

 protected:
  explicit FusedOptimizer(std::vector<std::string> kinds) : state_(std::move(kinds)) {}

  // `step` counts from 1.
  virtual void update(const HostList& list, std::int64_t step, double learning_rate) = 0;
  virtual void update(DeviceLists& lists, std::int64_t step, double learning_rate) = 0;

 private:
  void prepare(std::span<const parallel::Updatable> updatables);
  void step_on_host(std::span<const parallel::Updatable> updatables, double learning_rate);
  void step_on_device(std::span<const parallel::Updatable> updatables, double learning_rate);

  ParameterState state_;
  std::int64_t steps_ = 0;
  // Kept between steps so that a step allocates nothing.
  HostList list_;
  std::vector<at::Tensor> gradients_;
};

}  // namespace lockstep::train
