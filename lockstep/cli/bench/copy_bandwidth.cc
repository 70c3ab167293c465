#include "lockstep/cli/bench/copy_bandwidth.h"

#include <cstring>

#include "lockstep/base/clock.h"

namespace lockstep::cli {

// Both blocks are written here, so that no page is missing when the copy is timed.
CopyBandwidth::CopyBandwidth() : from_(kBytes, std::byte{1}), to_(kBytes, std::byte{2}) {}

double CopyBandwidth::measure() {
  const base::TimePoint start = base::now();
  std::memcpy(to_.data(), from_.data(), kBytes);
  const double seconds = base::to_seconds(base::now() - start);
  from_[0] = to_[kBytes - 1];  // the copy has a reader, so that it cannot be left out
  return seconds;
}

}  // namespace lockstep::cli
