// Time. Durations are measured with the steady clock only; waiting is always bounded by a Deadline.
#pragma once

#include <algorithm>
#include <chrono>

namespace lockstep::base {

using Nanoseconds = std::chrono::nanoseconds;
using SteadyClock = std::chrono::steady_clock;
using TimePoint = SteadyClock::time_point;

inline TimePoint now() {
  return SteadyClock::now();
}

inline double to_seconds(Nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}
// To the nearest nanosecond: 50e-6 is a little less than 50 microseconds, and must not become 49,999 ns.
inline Nanoseconds from_seconds(double seconds) {
  return std::chrono::round<Nanoseconds>(std::chrono::duration<double>(seconds));
}

// The moment at which a wait must have ended.
class Deadline {
 public:
  explicit Deadline(Nanoseconds from_now) : Deadline(now(), from_now) {}
  Deadline(TimePoint start, Nanoseconds from_start) : at_(saturating_add(start, from_start)) {}

  TimePoint at() const { return at_; }
  bool passed() const { return now() >= at_; }
  // What is left, never negative.
  Nanoseconds left() const { return std::max(Nanoseconds(0), Nanoseconds(at_ - now())); }
  // What is left in whole milliseconds, rounded up, for poll() and its like.
  int left_milliseconds() const;

 private:
  static TimePoint saturating_add(TimePoint start, Nanoseconds duration) {
    const bool beyond = start > TimePoint{} && duration > TimePoint::max() - start;
    return beyond ? TimePoint::max() : start + duration;
  }
  TimePoint at_;
};

inline int Deadline::left_milliseconds() const {
  constexpr Nanoseconds kMost = std::chrono::hours(1);
  const auto rounded_up = std::min(left(), kMost) + std::chrono::milliseconds(1) - Nanoseconds(1);
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(rounded_up).count());
}

}  // namespace lockstep::base
