#include "lockstep/train/optimizers/device_update.h"

#include <ATen/core/Tensor.h>

#include "lockstep/parallel/cuda/torch_stream.h"
#include "lockstep/train/kernels/cuda/update_cuda.h"

namespace lockstep::train {
namespace {

template <class Factors>
void run_all(const DeviceList& list, const Factors& host) {
  for (std::size_t element = 0; element < list.stretches.size(); ++element) {
    const std::vector<kernels::Stretch>& stretches = list.stretches[element];
    kernels::update_on_device(static_cast<kernels::Element>(element), stretches.data(), stretches.size(),
                              host, static_cast<const Factors*>(list.factors.data_ptr()),
                              parallel::torch_stream());
  }
}

}  // namespace

void run_on_device(const DeviceList& list, const kernels::SgdFactors& host) {
  run_all(list, host);
}
void run_on_device(const DeviceList& list, const kernels::AdamFactors& host) {
  run_all(list, host);
}

}  // namespace lockstep::train
