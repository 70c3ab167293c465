#include "lockstep/parallel/cuda/device_memory.h"

#include <utility>

#include "lockstep/measure/torch/device_blocks.h"
#include "lockstep/parallel/cuda/torch_stream.h"

namespace lockstep::parallel {

bool count_torch_memory(std::shared_ptr<measure::MemoryAccount> account) {
  if (!torch_tells_of_memory()) return false;
  measure::count_device_blocks(std::move(account));
  return true;
}

}  // namespace lockstep::parallel
