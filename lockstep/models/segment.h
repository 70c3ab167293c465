// A run of consecutive children of a chain, as a unit: so that their activations can be dropped together. It
// is no part of the model's tree and owns nothing; names and the state know nothing of it.
#pragma once

#include <memory>
#include <span>

#include "lockstep/models/runner.h"
#include "lockstep/models/unit.h"

namespace lockstep::models {

class Segment : public Unit {
 public:
  explicit Segment(std::span<const std::unique_ptr<Unit>> members) : members_(members) {}
  std::span<const std::unique_ptr<Unit>> members() const { return members_; }

  at::Tensor forward(Runner& runner, const at::Tensor& input) override {
    at::Tensor value = input;
    for (const auto& member : members_) value = runner.run(*member, value);
    return value;
  }

 private:
  std::span<const std::unique_ptr<Unit>> members_;
};

}  // namespace lockstep::models
