#include "lockstep/comm/cuda/device_hands.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/device/cuda/cuda_device.h"
#include "lockstep/device/cuda/cuda_error.h"

namespace lockstep::comm {
namespace {

using device::cuda::check;
using device::cuda::copy_on_stream;
using device::cuda::DeviceScope;
using device::cuda::Memory;
using device::cuda::MemoryKind;

constexpr std::size_t kAlignment = 256;

std::size_t rounded_up(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

device::cuda::Stream stream_on(int device) {
  const DeviceScope scope(device);
  return device::cuda::Stream::make();
}

void require_few(std::size_t ranks) {
  if (ranks <= kMostReducedRanks) return;
  throw base::ConfigError(
      fmt::format("at most {} replicas can be reduced on a GPU, and there are {}. Use fewer --workers.",
                  kMostReducedRanks, ranks));
}

}  // namespace

DeviceHands::DeviceHands(int device) : device_(device), stream_(stream_on(device)) {}

void DeviceHands::copy(void* to, const void* from, std::size_t bytes) {
  const DeviceScope scope(device_);
  copy_on_stream(to, from, bytes, stream_.get());
}

// A kernel reads and writes this device's memory only: what lies on another one is copied here before it, or
// from here after it.
void DeviceHands::reduce(ReduceOp op, ElementType type, std::span<void* const> outputs,
                         std::span<const void* const> inputs, std::size_t count) {
  if (count == 0 || outputs.empty()) return;
  require_few(inputs.size());
  const DeviceScope scope(device_);
  DeviceReduceTask task{};
  task.bytes = count * bytes_of(type);
  scratch_used_ = 0;
  reserve_scratch(inputs, outputs, task.bytes);
  for (const void* input : inputs) task.inputs[task.input_count++] = brought_here(input, task.bytes);
  for (void* output : outputs)
    if (is_here(output)) task.outputs[task.output_count++] = static_cast<std::byte*>(output);
  if (task.output_count == 0) task.outputs[task.output_count++] = take_scratch(task.bytes);
  reduce_on_device(op, type, task, stream_.get());
  for (void* output : outputs)
    if (!is_here(output)) copy_on_stream(output, task.outputs[0], task.bytes, stream_.get());
}

bool DeviceHands::is_here(const void* memory) const {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, memory), "asking where a buffer lies");
  return attributes.type == cudaMemoryTypeDevice && attributes.device == device_;
}

const std::byte* DeviceHands::brought_here(const void* input, std::size_t bytes) {
  if (is_here(input)) return static_cast<const std::byte*>(input);
  std::byte* copied = take_scratch(bytes);
  copy_on_stream(copied, input, bytes, stream_.get());
  return copied;
}

// For every input and the result, where anything lies elsewhere.
void DeviceHands::reserve_scratch(std::span<const void* const> inputs, std::span<void* const> outputs,
                                  std::size_t bytes) {
  const auto here = [this](const void* memory) { return is_here(memory); };
  if (std::ranges::all_of(inputs, here) && std::ranges::all_of(outputs, here)) return;
  const std::size_t needed = (inputs.size() + 1) * rounded_up(bytes);
  if (needed <= scratch_.bytes()) return;
  finish();
  scratch_ = {};
  scratch_ = Memory(MemoryKind::device, needed);
}

std::byte* DeviceHands::take_scratch(std::size_t bytes) {
  return scratch_.data() + std::exchange(scratch_used_, scratch_used_ + rounded_up(bytes));
}

void DeviceHands::finish() {
  check(cudaStreamSynchronize(stream_.get()), "waiting for a GPU to move what replicas exchange");
}

Allocation DeviceHands::allocate(std::size_t bytes) {
  const DeviceScope scope(device_);
  auto memory = std::make_shared<Memory>(MemoryKind::device, bytes);
  return {memory->data(), bytes, Place::device, [memory]() mutable { memory.reset(); }};
}

std::unique_ptr<shared::Hands> DeviceHands::another() const {
  return std::make_unique<DeviceHands>(device_);
}

}  // namespace lockstep::comm
