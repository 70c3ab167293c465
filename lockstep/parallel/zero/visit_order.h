// The order in which the layers of a model are needed in a pass, learnt in the first one: what comes next can
// then be fetched ahead. It is the same on every worker, for all run the same model.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace lockstep::parallel {

class VisitOrder {
 public:
  void begin_pass();
  // The layer is needed now; the one that will be needed after it, where that is known. A pass that takes
  // another way than the one before is learnt anew.
  std::optional<std::size_t> visit(std::size_t layer);

 private:
  bool expected(std::size_t layer) const { return position_ < known_.size() && known_[position_] == layer; }

  std::vector<std::size_t> known_;    // of a whole pass
  std::vector<std::size_t> visited_;  // of the pass that runs
  std::size_t position_ = 0;
};

}  // namespace lockstep::parallel
