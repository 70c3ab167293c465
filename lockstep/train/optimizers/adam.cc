#include "lockstep/train/optimizers/adam.h"

#include <cmath>

#include "lockstep/train/optimizers/device_update.h"

namespace lockstep::train {

Adam::Adam(const AdamOptions& options) : FusedOptimizer({"exp_avg", "exp_avg_sq"}), options_(options) {}

kernels::AdamFactors Adam::factors_at(std::int64_t step, double learning_rate) const {
  const auto t = static_cast<double>(step);
  kernels::AdamFactors factors;
  factors.keep = options_.decoupled ? 1 - learning_rate * options_.weight_decay : 1;
  factors.weight_decay = options_.decoupled ? 0 : options_.weight_decay;
  factors.beta1 = options_.beta1;
  factors.beta2 = options_.beta2;
  factors.step_size = learning_rate / (1 - std::pow(options_.beta1, t));
  factors.root_correction = std::sqrt(1 - std::pow(options_.beta2, t));
  factors.epsilon = options_.epsilon;
  return factors;
}

std::span<const std::byte> Adam::set_factors(std::int64_t step, double learning_rate) {
  factors_ = factors_at(step, learning_rate);
  return std::as_bytes(std::span(&factors_, 1));
}

void Adam::apply(const HostList& list) {
  const kernels::UpdateKernels& kernels = kernels::update_kernels();
  list.for_each_stretch([&](kernels::Element element, const kernels::Stretch& stretch) {
    kernels.adam[static_cast<int>(element)](factors_, stretch);
  });
}

void Adam::apply(const DeviceList& list) {
  run_on_device(list, factors_);
}

}  // namespace lockstep::train
