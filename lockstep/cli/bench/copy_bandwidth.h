// What this host's memory can copy, measured in the same run as the collectives it is compared with.
#pragma once

#include <cstddef>
#include <vector>

namespace lockstep::cli {

// Copies between two private blocks larger than most caches.
class CopyBandwidth {
 public:
  CopyBandwidth();
  // One copy; returns its seconds.
  double measure();
  static constexpr std::size_t kBytes = std::size_t{64} * 1024 * 1024;

 private:
  std::vector<std::byte> from_, to_;
};

}  // namespace lockstep::cli
