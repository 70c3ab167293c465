#include "lockstep/parallel/zero/visit_order.h"

#include <utility>

namespace lockstep::parallel {

void VisitOrder::begin_pass() {
  if (!visited_.empty()) known_ = std::move(visited_);
  visited_.clear();
  position_ = 0;
}

std::optional<std::size_t> VisitOrder::visit(std::size_t layer) {
  visited_.push_back(layer);
  if (!expected(layer)) known_.clear();
  ++position_;
  return position_ < known_.size() ? std::optional(known_[position_]) : std::nullopt;
}

}  // namespace lockstep::parallel
