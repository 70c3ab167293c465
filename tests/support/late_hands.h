// Hands over "device" memory that is the host's, and that do nothing before they are asked to finish: an
// operation that forgets to finish, or finishes too late, gives wrong results.
#pragma once

#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "lockstep/comm/channel.h"
#include "lockstep/comm/reduction/reduction.h"
#include "lockstep/comm/shared/hands.h"

namespace lockstep::testing {

class LateHands final : public comm::shared::Hands {
 public:
  void copy(void* to, const void* from, std::size_t bytes) override {
    asked_.push_back([=] { std::memcpy(to, from, bytes); });
  }

  void reduce(comm::ReduceOp op, comm::ElementType type, std::span<void* const> outputs,
              std::span<const void* const> inputs, std::size_t count) override {
    asked_.push_back([op, type, count, to = std::vector<void*>(outputs.begin(), outputs.end()),
                      from = std::vector<const void*>(inputs.begin(), inputs.end())] {
      comm::reduce_ranks(op, type, to, from, count);
    });
  }

  void finish() override {
    for (const auto& each : std::exchange(asked_, {})) each();
  }

  comm::Allocation allocate(std::size_t bytes) override {
    auto memory = std::make_shared<comm::Allocation>(comm::allocate_host(bytes));
    return {memory->data(), bytes, comm::Place::device, [memory]() mutable { memory.reset(); }};
  }

  std::unique_ptr<Hands> another() const override { return std::make_unique<LateHands>(); }

 private:
  std::vector<std::function<void()>> asked_;
};

}  // namespace lockstep::testing
