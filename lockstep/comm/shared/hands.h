// What touches the ranks' memory in an operation: a processor, or the copy engines and kernels of a GPU.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "lockstep/comm/buffer.h"
#include "lockstep/comm/operation.h"

namespace lockstep::comm::shared {

// Of one rank and one channel; used by one thread at a time.
class Hands {
 public:
  virtual ~Hands() = default;
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  // In the order and with the bits of reduce_ranks().
  virtual void reduce(ReduceOp op, ElementType type, std::span<void* const> outputs,
                      std::span<const void* const> inputs, std::size_t count) = 0;
  // Returns when everything asked for has happened and other ranks see it.
  virtual void finish() = 0;
  // Memory that these hands can touch.
  virtual Allocation allocate(std::size_t bytes) = 0;
  // The same for another channel of this rank.
  virtual std::unique_ptr<Hands> another() const = 0;
};

// A processor's: everything has happened when a call returns.
class HostHands final : public Hands {
 public:
  void copy(void* to, const void* from, std::size_t bytes) override;
  void reduce(ReduceOp op, ElementType type, std::span<void* const> outputs,
              std::span<const void* const> inputs, std::size_t count) override;
  void finish() override {}
  Allocation allocate(std::size_t bytes) override;
  std::unique_ptr<Hands> another() const override { return std::make_unique<HostHands>(); }
};

}  // namespace lockstep::comm::shared
