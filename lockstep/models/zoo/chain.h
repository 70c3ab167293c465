// A unit that runs its children one after the other, under names the model gives ("features.0",
// "features.3").
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lockstep/models/runner.h"
#include "lockstep/models/segment.h"
#include "lockstep/models/unit.h"

namespace lockstep::models {

class Chain : public Unit {
 public:
  Chain& then(std::string name, std::unique_ptr<Unit> unit) {
    add(std::move(name), std::move(unit));
    return *this;
  }
  Chain& then(std::int64_t number, std::unique_ptr<Unit> unit) {
    return then(std::to_string(number), std::move(unit));
  }

  // Runs `length` children at a time without keeping what they compute (see recompute.h); 0: all are kept.
  void recompute_by_segments(std::size_t length) {
    segments_.clear();
    for (std::size_t begin = 0; length > 0 && begin < children().size(); begin += length) {
      const std::size_t count = std::min(length, children().size() - begin);
      segments_.push_back(std::make_unique<Segment>(children().subspan(begin, count)));
      segments_.back()->set_recompute(true);
    }
  }

  at::Tensor forward(Runner& runner, const at::Tensor& input) override {
    at::Tensor value = input;
    for (const auto& unit : segments_.empty() ? children() : segments()) value = runner.run(*unit, value);
    return value;
  }

 private:
  std::span<const std::unique_ptr<Unit>> segments() const { return segments_; }

  std::vector<std::unique_ptr<Unit>> segments_;
};

}  // namespace lockstep::models
