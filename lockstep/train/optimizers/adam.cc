#include "lockstep/train/optimizers/adam.h"

#include <ATen/ATen.h>

#include <cmath>

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

void Adam::update(const HostList& list, std::int64_t step, double learning_rate) {
  const kernels::UpdateKernels& kernels = kernels::update_kernels();
  const kernels::AdamFactors factors = factors_at(step, learning_rate);
  list.for_each_stretch([&](kernels::Element element, const kernels::Stretch& stretch) {
    kernels.adam[static_cast<int>(element)](factors, stretch);
  });
}

void Adam::update(DeviceLists& lists, std::int64_t step, double learning_rate) {
  const kernels::AdamFactors factors = factors_at(step, learning_rate);
  if (factors.keep != 1) at::_foreach_mul_(lists.weights, factors.keep);
  std::vector<at::Tensor> slopes = lists.gradients;
  if (factors.weight_decay != 0)
    slopes = at::_foreach_add(lists.gradients, lists.weights, factors.weight_decay);
  at::_foreach_mul_(lists.first, factors.beta1);
  at::_foreach_add_(lists.first, slopes, 1 - factors.beta1);
  at::_foreach_mul_(lists.second, factors.beta2);
  at::_foreach_addcmul_(lists.second, slopes, slopes, 1 - factors.beta2);
  const std::vector<at::Tensor> divisors = at::_foreach_sqrt(lists.second);
  at::_foreach_div_(divisors, factors.root_correction);
  at::_foreach_add_(divisors, factors.epsilon);
  at::_foreach_addcdiv_(lists.weights, lists.first, divisors, -factors.step_size);
}

}  // namespace lockstep::train
