#include "lockstep/parallel/horovod/cycle_words.h"

#include <algorithm>

namespace lockstep::parallel::horovod {

std::size_t words_per_rank(std::size_t positions) {
  return 1 + (positions + 63) / 64;
}

void CycleWords::clear() {
  std::fill(words_.begin(), words_.end(), std::uint64_t{0});
}

void CycleWords::set_requests(std::size_t count) {
  words_[0] = (words_[0] & ~std::uint64_t{0xffffffffu}) | static_cast<std::uint32_t>(count);
}

}  // namespace lockstep::parallel::horovod
