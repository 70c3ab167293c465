#include "lockstep/comm/cuda/buffer_use.h"

namespace lockstep::comm {

bool reads_input(const Operation& operation, int rank) {
  const Collective collective = operation.collective;
  const bool only_root = collective == Collective::broadcast || collective == Collective::scatter;
  return !only_root || operation.root == rank;
}

bool writes_output(const Operation& operation, int rank) {
  const Collective collective = operation.collective;
  if (collective == Collective::broadcast) return operation.root != rank;
  const bool only_root = collective == Collective::reduce || collective == Collective::gather;
  return !only_root || operation.root == rank;
}

bool overlap(const Buffer& one, const Buffer& other) {
  const auto* a = static_cast<const std::byte*>(one.data);
  const auto* b = static_cast<const std::byte*>(other.data);
  return one.bytes > 0 && other.bytes > 0 && a < b + other.bytes && b < a + one.bytes;
}

}  // namespace lockstep::comm
