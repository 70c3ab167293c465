// Moves and reduces what replicas of one process have on GPUs, where it lies: copies by the GPU's engines and
// one kernel, on a stream of its own.
#pragma once

#include "lockstep/comm/cuda/device_reduce.h"
#include "lockstep/comm/shared/hands.h"
#include "lockstep/device/cuda/cuda_memory.h"
#include "lockstep/device/cuda/cuda_stream.h"

namespace lockstep::comm {

class DeviceHands final : public shared::Hands {
 public:
  explicit DeviceHands(int device);

  void copy(void* to, const void* from, std::size_t bytes) override;
  void reduce(ReduceOp op, ElementType type, std::span<void* const> outputs,
              std::span<const void* const> inputs, std::size_t count) override;
  void finish() override;
  Allocation allocate(std::size_t bytes) override;
  std::unique_ptr<shared::Hands> another() const override;

 private:
  bool is_here(const void* memory) const;
  const std::byte* brought_here(const void* input, std::size_t bytes);
  void reserve_scratch(std::span<const void* const> inputs, std::span<void* const> outputs,
                       std::size_t bytes);
  std::byte* take_scratch(std::size_t bytes);

  int device_;
  device::cuda::Stream stream_;
  device::cuda::Memory scratch_;  // for what lies on other devices
  std::size_t scratch_used_ = 0;
};

}  // namespace lockstep::comm
