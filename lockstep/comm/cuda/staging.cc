#include "lockstep/comm/cuda/staging.h"

#include <cstring>
#include <memory>

#include "lockstep/comm/cuda/buffer_use.h"
#include "lockstep/device/cuda/cuda_error.h"

namespace lockstep::comm {
namespace {

constexpr std::size_t kAlignment = 256;

std::size_t rounded_up(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

bool on_device(const Buffer& buffer) {
  return buffer.place == Place::device;
}

bool same(const Buffer& one, const Buffer& other) {
  return one.data == other.data && one.bytes == other.bytes;
}

// In place, a device backend takes the whole buffer or this rank's own part of it, nothing else.
bool overlaps_strangely(const Operation& operation, const Group& group) {
  if (!overlap(operation.input, operation.output) || same(operation.input, operation.output)) return false;
  const bool whole_goes_in =
      operation.collective == Collective::reduce_scatter || operation.collective == Collective::scatter;
  const Buffer& whole = whole_goes_in ? operation.input : operation.output;
  const Buffer& part = whole_goes_in ? operation.output : operation.input;
  const Part own = part_of(operation, group.rank, group.world);
  return part.data != static_cast<std::byte*>(whole.data) + own.offset_bytes;
}

struct HostCopy {
  std::shared_ptr<HostGate> gate;
  void* to;
  const void* from;
  std::size_t bytes;
};

}  // namespace

Operation Staging::enter(const Operation& operation, const Group& group) {
  const bool strange = overlaps_strangely(operation, group);
  const bool stage_input = !on_device(operation.input) && operation.input.bytes > 0;
  const bool stage_output = operation.output.bytes > 0 && (!on_device(operation.output) || strange);
  if (!stage_input && !stage_output) return operation;

  const std::size_t output_offset = stage_input ? rounded_up(operation.input.bytes) : 0;
  reserve(output_offset + operation.output.bytes);
  Operation staged = operation;
  if (stage_input) staged.input = staged_at(operation.input, 0);
  if (stage_output)
    staged.output = stage_input && same(operation.input, operation.output)
                        ? staged.input
                        : staged_at(operation.output, output_offset);
  if (stage_input && reads_input(operation, group.rank)) copy_in(staged.input, operation.input);
  return staged;
}

void Staging::leave(const Operation& operation, const Operation& staged, const Group& group) {
  if (same(staged.output, operation.output) || !writes_output(operation, group.rank)) return;
  copy_out(operation.output, staged.output);
}

Buffer Staging::staged_at(const Buffer& buffer, std::size_t offset_bytes) const {
  return {device_.data() + offset_bytes, buffer.bytes, buffer.type, Place::device};
}

void Staging::reserve(std::size_t bytes) {
  if (bytes <= device_.bytes()) return;
  drain_();
  device_ = {};
  pinned_ = {};
  device_ = device::cuda::Memory(device::cuda::MemoryKind::device, bytes);
  pinned_ = device::cuda::Memory(device::cuda::MemoryKind::pinned, bytes);
}

std::byte* Staging::pinned_for(const Buffer& staged) const {
  return pinned_.data() + (static_cast<std::byte*>(staged.data) - device_.data());
}

void Staging::host_copy_on_stream(void* to, const void* from, std::size_t bytes) const {
  auto copy = std::make_unique<HostCopy>(HostCopy{gate_, to, from, bytes});
  const cudaError_t result = cudaLaunchHostFunc(
      stream_,
      [](void* argument) {
        const std::unique_ptr<HostCopy> order(static_cast<HostCopy*>(argument));
        order->gate->pass([&order] { std::memcpy(order->to, order->from, order->bytes); });
      },
      copy.get());
  device::cuda::check(result, "putting a host copy on a CUDA stream");
  copy.release();  // the stream's now
}

void Staging::copy_in(const Buffer& staged, const Buffer& original) {
  host_copy_on_stream(pinned_for(staged), original.data, original.bytes);
  device::cuda::copy_on_stream(staged.data, pinned_for(staged), original.bytes, stream_);
}

void Staging::copy_out(const Buffer& original, const Buffer& staged) {
  if (on_device(original)) {
    device::cuda::copy_on_stream(original.data, staged.data, original.bytes, stream_);
    return;
  }
  device::cuda::copy_on_stream(pinned_for(staged), staged.data, original.bytes, stream_);
  host_copy_on_stream(original.data, pinned_for(staged), original.bytes);
}

}  // namespace lockstep::comm
