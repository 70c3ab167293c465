// What all update rules share: state, the count of steps, and the lists of tensors for the kernels of the
// host and of a GPU.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "lockstep/train/optimizer.h"
#include "lockstep/train/optimizers/host_list.h"
#include "lockstep/train/optimizers/parameter_state.h"

namespace lockstep::train {

// The whole tensors of one step on a GPU, by element type, and the rule's factors in its memory.
struct DeviceList {
  std::array<std::vector<kernels::Stretch>, kernels::kElementCount> stretches;
  at::Tensor factors;
};

class FusedOptimizer : public Optimizer {
 public:
  void advance(double learning_rate) final;
  void update(std::span<const parallel::Updatable> updatables) final;
  int state_tensors() const final { return state_.kinds(); }
  std::vector<models::NamedTensor> state() const final;
  void load_state(std::span<const parallel::Updatable> updatables,
                  const std::vector<models::NamedTensor>& state) final;

 protected:
  explicit FusedOptimizer(std::vector<std::string> kinds) : state_(std::move(kinds)) {}

  // What the rule multiplies by in the coming step, which counts from 1: kept until the next call.
  virtual std::span<const std::byte> set_factors(std::int64_t step, double learning_rate) = 0;
  virtual void apply(const HostList& list) = 0;
  virtual void apply(const DeviceList& list) = 0;

 private:
  void prepare(std::span<const parallel::Updatable> updatables);
  void update_on_host(std::span<const parallel::Updatable> updatables);
  void update_on_device(std::span<const parallel::Updatable> updatables);
  void send_factors();

  ParameterState state_;
  std::int64_t steps_ = 0;
  std::span<const std::byte> coming_;  // of the coming update
  // Kept between steps so that a step allocates nothing.
  HostList list_;
  DeviceList device_list_;
  std::vector<at::Tensor> gradients_;
};

}  // namespace lockstep::train
