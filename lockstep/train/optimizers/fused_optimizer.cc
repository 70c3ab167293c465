#include "lockstep/train/optimizers/fused_optimizer.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"

namespace lockstep::train {
namespace {

constexpr const char* kSteps = "steps";

void* data_of(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr() : nullptr;
}

kernels::Stretch whole_of(const parallel::Updatable& updatable, const ParameterState::Entry& entry,
                          const at::Tensor& gradient) {
  kernels::Stretch whole;
  whole.weight = data_of(entry.master.defined() ? entry.master : updatable.value);
  whole.rounded = entry.master.defined() ? data_of(updatable.value) : nullptr;
  whole.gradient = data_of(gradient);
  if (!entry.tensors.empty()) whole.first = data_of(entry.tensors[0]);
  if (entry.tensors.size() > 1) whole.second = data_of(entry.tensors[1]);
  whole.count = updatable.value.numel();
  return whole;
}

void append(DeviceLists& lists, const parallel::Updatable& updatable, const ParameterState::Entry& entry) {
  const at::Tensor gradient = aligned_gradient(updatable);
  const bool rounded = entry.master.defined();
  lists.weights.push_back(rounded ? entry.master : updatable.value.detach());
  lists.gradients.push_back(rounded ? gradient.to(at::kFloat) : gradient);
  if (!entry.tensors.empty()) lists.first.push_back(entry.tensors[0]);
  if (entry.tensors.size() > 1) lists.second.push_back(entry.tensors[1]);
}

std::int64_t steps_in(const std::vector<models::NamedTensor>& state) {
  const auto found = std::find_if(state.begin(), state.end(),
                                  [](const models::NamedTensor& one) { return one.name == kSteps; });
  if (found == state.end() || found->tensor.numel() != 1) {
    throw base::DataError("the optimiser's state lacks the number of its steps ('steps', a scalar)");
  }
  return found->tensor.item<std::int64_t>();
}

}  // namespace

void FusedOptimizer::step(std::span<const parallel::Updatable> updatables, double learning_rate) {
  const at::NoGradGuard no_grad;
  prepare(updatables);
  ++steps_;
  const bool on_device = !updatables.empty() && !updatables.front().value.is_cpu();
  on_device ? step_on_device(updatables, learning_rate) : step_on_host(updatables, learning_rate);
}

void FusedOptimizer::prepare(std::span<const parallel::Updatable> updatables) {
  if (!state_.made()) {
    for (const parallel::Updatable& updatable : updatables) element_of(updatable);
    state_.make(updatables);
  }
  if (updatables.size() != state_.entries().size()) {
    throw base::ConfigError(
        fmt::format("the optimiser was given {} tensors and has state for {}: the list must be "
                    "the same at every step",
                    updatables.size(), state_.entries().size()));
  }
}

void FusedOptimizer::step_on_host(std::span<const parallel::Updatable> updatables, double learning_rate) {
  list_.clear();
  gradients_.clear();
  for (std::size_t i = 0; i < updatables.size(); ++i) {
    if (!updatables[i].gradient.defined()) continue;
    gradients_.push_back(aligned_gradient(updatables[i]));
    list_.add(element_of(updatables[i]), whole_of(updatables[i], state_.entries()[i], gradients_.back()));
  }
  update(list_, steps_, learning_rate);
  gradients_.clear();
}

void FusedOptimizer::step_on_device(std::span<const parallel::Updatable> updatables, double learning_rate) {
  DeviceLists lists;
  for (std::size_t i = 0; i < updatables.size(); ++i) {
    if (updatables[i].gradient.defined()) append(lists, updatables[i], state_.entries()[i]);
  }
  if (!lists.weights.empty()) update(lists, steps_, learning_rate);
  for (std::size_t i = 0; i < updatables.size(); ++i) {
    const at::Tensor& master = state_.entries()[i].master;
    if (master.defined()) updatables[i].value.detach().copy_(master);
  }
}

std::vector<models::NamedTensor> FusedOptimizer::state() const {
  std::vector<models::NamedTensor> all = state_.named();
  all.push_back({kSteps, at::scalar_tensor(steps_, at::TensorOptions().dtype(at::kLong))});
  return all;
}

void FusedOptimizer::load_state(std::span<const parallel::Updatable> updatables,
                                const std::vector<models::NamedTensor>& state) {
  const std::int64_t steps = steps_in(state);
  if (steps == 0) {
    state_.forget();
  } else {
    state_.load(updatables, state);
  }
  steps_ = steps;
}

}  // namespace lockstep::train
