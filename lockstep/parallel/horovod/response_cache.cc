#include "lockstep/parallel/horovod/response_cache.h"

#include <algorithm>

namespace lockstep::parallel::horovod {

ResponseCache::ResponseCache(std::size_t tensors, std::size_t capacity)
    : positions_(std::min(tensors, capacity)), position_of_(tensors, kNowhere) {}

std::optional<std::size_t> ResponseCache::position_of(std::size_t tensor) const {
  const std::size_t position = position_of_[tensor];
  return position == kNowhere ? std::nullopt : std::optional(position);
}

void ResponseCache::put(std::size_t tensor) {
  if (position_of_[tensor] != kNowhere || used() == positions_) return;
  position_of_[tensor] = used();
  tensor_at_.push_back(tensor);
}

}  // namespace lockstep::parallel::horovod
