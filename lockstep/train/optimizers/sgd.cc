#include "lockstep/train/optimizers/sgd.h"

#include "lockstep/train/optimizers/device_update.h"

namespace lockstep::train {

Sgd::Sgd(const SgdOptions& options)
    : FusedOptimizer(options.momentum == 0 ? std::vector<std::string>{}
                                           : std::vector<std::string>{"momentum"}),
      options_(options) {}

std::span<const std::byte> Sgd::set_factors(std::int64_t, double learning_rate) {
  factors_ = {learning_rate, options_.momentum, options_.weight_decay, options_.nesterov};
  return std::as_bytes(std::span(&factors_, 1));
}

void Sgd::apply(const HostList& list) {
  const kernels::UpdateKernels& kernels = kernels::update_kernels();
  list.for_each_stretch([&](kernels::Element element, const kernels::Stretch& stretch) {
    kernels.sgd[static_cast<int>(element)](factors_, stretch);
  });
}

void Sgd::apply(const DeviceList& list) {
  run_on_device(list, factors_);
}

}  // namespace lockstep::train
