#include "lockstep/comm/algorithms/wait_clock.h"

#include <algorithm>

namespace lockstep::comm {
namespace {

// A wait shorter than this found its message already there.
constexpr base::Nanoseconds kReal = std::chrono::microseconds(5);

}  // namespace

void WaitClock::add(base::Nanoseconds wait, std::size_t bytes) {
  total_ += wait;
  total_bytes_ += bytes;
  if (wait > kReal) shortest_real_ = std::min(shortest_real_, wait);
  if (wait <= longest_) return;
  longest_ = wait;
  longest_bytes_ = bytes;
}

base::Nanoseconds WaitClock::take_peer_wait() {
  const base::Nanoseconds peer_wait = std::max(base::Nanoseconds(0), longest_ - usual_wait());
  const base::Nanoseconds shortest_real = shortest_real_;
  *this = WaitClock{};
  shortest_real_ = shortest_real;
  return peer_wait;
}

base::Nanoseconds WaitClock::usual_wait() const {
  const std::size_t other_bytes = total_bytes_ - longest_bytes_;
  if (other_bytes == 0) return std::min(longest_, shortest_real_);
  const double per_byte = base::to_seconds(total_ - longest_) / static_cast<double>(other_bytes);
  return std::max(base::from_seconds(per_byte * static_cast<double>(longest_bytes_)),
                  std::min(longest_, shortest_real_));
}

}  // namespace lockstep::comm
