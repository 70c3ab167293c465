#include "lockstep/train/optimizers/fused_optimizer.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

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

std::int64_t steps_in(const std::vector<models::NamedTensor>& state) {
  const auto found = std::find_if(state.begin(), state.end(),
                                  [](const models::NamedTensor& one) { return one.name == kSteps; });
  if (found == state.end() || found->tensor.numel() != 1) {
    throw base::DataError("the optimiser's state lacks the number of its steps ('steps', a scalar)");
  }
  return found->tensor.item<std::int64_t>();
}

}  // namespace

void FusedOptimizer::advance(double learning_rate) {
  coming_ = set_factors(++steps_, learning_rate);
  if (device_list_.factors.defined()) send_factors();
}

// From pinned memory, which torch keeps until the copy is done: nobody waits.
void FusedOptimizer::send_factors() {
  const auto bytes = static_cast<std::int64_t>(coming_.size());
  const at::Tensor staged = at::empty({bytes}, at::TensorOptions().dtype(at::kByte).pinned_memory(true));
  std::memcpy(staged.data_ptr(), coming_.data(), coming_.size());
  device_list_.factors.copy_(staged, true);
}

void FusedOptimizer::update(std::span<const parallel::Updatable> updatables) {
  const at::NoGradGuard no_grad;
  prepare(updatables);
  const bool on_device = !updatables.empty() && !updatables.front().value.is_cpu();
  on_device ? update_on_device(updatables) : update_on_host(updatables);
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

void FusedOptimizer::update_on_host(std::span<const parallel::Updatable> updatables) {
  list_.clear();
  gradients_.clear();
  for (std::size_t i = 0; i < updatables.size(); ++i) {
    if (!updatables[i].gradient.defined()) continue;
    gradients_.push_back(aligned_gradient(updatables[i]));
    list_.add(element_of(updatables[i]), whole_of(updatables[i], state_.entries()[i], gradients_.back()));
  }
  apply(list_);
  gradients_.clear();
}

// A gradient's memory may be used again as soon as it is let go of: what comes then is behind the update on
// the same stream.
void FusedOptimizer::update_on_device(std::span<const parallel::Updatable> updatables) {
  for (auto& stretches : device_list_.stretches) stretches.clear();
  gradients_.clear();
  for (std::size_t i = 0; i < updatables.size(); ++i) {
    if (!updatables[i].gradient.defined()) continue;
    gradients_.push_back(aligned_gradient(updatables[i]));
    const auto element = static_cast<std::size_t>(element_of(updatables[i]));
    device_list_.stretches[element].push_back(
        whole_of(updatables[i], state_.entries()[i], gradients_.back()));
  }
  if (!device_list_.factors.defined()) {
    device_list_.factors =
        at::empty({static_cast<std::int64_t>(coming_.size())},
                  updatables.front().value.options().dtype(at::kByte).requires_grad(false));
    send_factors();
  }
  apply(device_list_);
  gradients_.clear();
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
