// How long each of dp's primitives took one replica in a step. A scope may be opened several times a step.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "lockstep/base/clock.h"

namespace lockstep::parallel {

enum class Primitive { replicate, scatter, apply, gather, reduce };
inline constexpr std::array<std::string_view, 5> kPrimitiveNames = {"replicate", "scatter", "apply", "gather",
                                                                    "reduce"};

class PrimitiveClock {
 public:
  void restart() { taken_.fill(base::Nanoseconds(0)); }

  std::map<std::string, double> seconds() const {
    std::map<std::string, double> seconds;
    for (std::size_t index = 0; index < taken_.size(); ++index)
      seconds[std::string(kPrimitiveNames[index])] = base::to_seconds(taken_[index]);
    return seconds;
  }

  class Scope {
   public:
    Scope(PrimitiveClock& clock, Primitive primitive)
        : taken_(clock.taken_[static_cast<std::size_t>(primitive)]), began_(base::now()) {}
    ~Scope() { taken_ += base::now() - began_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    base::Nanoseconds& taken_;
    base::TimePoint began_;
  };

 private:
  std::array<base::Nanoseconds, kPrimitiveNames.size()> taken_{};
};

}  // namespace lockstep::parallel
