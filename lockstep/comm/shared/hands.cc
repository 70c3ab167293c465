#include "lockstep/comm/shared/hands.h"

#include <cstring>

#include "lockstep/comm/channel.h"
#include "lockstep/comm/reduction/reduction.h"

namespace lockstep::comm::shared {

void HostHands::copy(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

void HostHands::reduce(ReduceOp op, ElementType type, std::span<void* const> outputs,
                       std::span<const void* const> inputs, std::size_t count) {
  reduce_ranks(op, type, outputs, inputs, count);
}

Allocation HostHands::allocate(std::size_t bytes) {
  return allocate_host(bytes);
}

}  // namespace lockstep::comm::shared
