// The way from a list of tensors on a GPU to the kernels that update them. Defined by cuda/ or by a stub.
#pragma once

#include "lockstep/train/optimizers/fused_optimizer.h"

namespace lockstep::train {

// On torch's stream. `host` is what list.factors holds on the device, or will when the kernels run.
void run_on_device(const DeviceList& list, const kernels::SgdFactors& host);
void run_on_device(const DeviceList& list, const kernels::AdamFactors& host);

}  // namespace lockstep::train
