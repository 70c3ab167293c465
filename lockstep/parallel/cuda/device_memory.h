// Lets memory accounts know what libtorch's allocator of GPUs does.
#pragma once

#include <memory>

#include "lockstep/measure/memory_account.h"

namespace lockstep::parallel {

// From now on what libtorch takes on any GPU of this process is counted (measure/torch/device_blocks.h), in
// `account` where no scope names another. False: it has an allocator that tells nothing.
bool count_torch_memory(std::shared_ptr<measure::MemoryAccount> account);

}  // namespace lockstep::parallel
