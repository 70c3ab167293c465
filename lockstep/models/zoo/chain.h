// A unit that runs its children one after the other, under names the model gives ("features.0",
// "features.3").
#pragma once

#include <memory>
#include <string>

#include "lockstep/models/runner.h"
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

  at::Tensor forward(Runner& runner, const at::Tensor& input) override {
    at::Tensor value = input;
    for (const auto& child : children()) value = runner.run(*child, value);
    return value;
  }
};

}  // namespace lockstep::models
