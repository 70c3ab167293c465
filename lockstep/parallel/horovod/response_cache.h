// Which tensors have a position in the bit vector. A tensor gets one when rank 0 has answered for it, on all
// ranks with the same answer, so the positions are the same everywhere and in the order that rank 0 chose.
//
// A full cache keeps what it has. Every step asks for every tensor once, in much the same order: throwing out
// the least recently used one would throw out just what is asked for next.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace lockstep::parallel::horovod {

class ResponseCache {
 public:
  // Of `tensors` tensors at most `capacity` are kept; 0: none.
  ResponseCache(std::size_t tensors, std::size_t capacity);

  // How many positions there can be.
  std::size_t positions() const { return positions_; }
  std::size_t used() const { return tensor_at_.size(); }
  std::optional<std::size_t> position_of(std::size_t tensor) const;
  std::size_t tensor_at(std::size_t position) const { return tensor_at_[position]; }
  // Gives the tensor the next position, if there is one left and it has none yet.
  void put(std::size_t tensor);

 private:
  static constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

  std::size_t positions_;
  std::vector<std::size_t> position_of_;
  std::vector<std::size_t> tensor_at_;
};

}  // namespace lockstep::parallel::horovod
