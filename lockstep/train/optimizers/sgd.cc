#include "lockstep/train/optimizers/sgd.h"

#include <ATen/ATen.h>

namespace lockstep::train {

Sgd::Sgd(const SgdOptions& options)
    : FusedOptimizer(options.momentum == 0 ? std::vector<std::string>{}
                                           : std::vector<std::string>{"momentum"}),
      options_(options) {}

void Sgd::update(const HostList& list, std::int64_t, double learning_rate) {
  const kernels::UpdateKernels& kernels = kernels::update_kernels();
  const kernels::SgdFactors factors{learning_rate, options_.momentum, options_.weight_decay,
                                    options_.nesterov};
  list.for_each_stretch([&](kernels::Element element, const kernels::Stretch& stretch) {
    kernels.sgd[static_cast<int>(element)](factors, stretch);
  });
}

void Sgd::update(DeviceLists& lists, std::int64_t, double learning_rate) {
  std::vector<at::Tensor> slopes = lists.gradients;
  if (options_.weight_decay != 0) {
    slopes = at::_foreach_add(lists.gradients, lists.weights, options_.weight_decay);
  }
  if (options_.momentum != 0) {
    at::_foreach_mul_(lists.first, options_.momentum);
    at::_foreach_add_(lists.first, slopes, 1);
    slopes = options_.nesterov ? at::_foreach_add(slopes, lists.first, options_.momentum) : lists.first;
  }
  at::_foreach_add_(lists.weights, slopes, -learning_rate);
}

}  // namespace lockstep::train
