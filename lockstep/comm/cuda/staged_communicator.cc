#include "lockstep/comm/cuda/staged_communicator.h"

#include <algorithm>

#include "lockstep/comm/cuda/buffer_use.h"
#include "lockstep/device/cuda/cuda_device.h"
#include "lockstep/device/cuda/cuda_error.h"

namespace lockstep::comm {
namespace {

using device::cuda::DeviceScope;
using device::cuda::Memory;
using device::cuda::MemoryKind;

bool on_device(const Buffer& buffer) {
  return buffer.place == Place::device && buffer.bytes > 0;
}

std::byte* begin_of(const Buffer& buffer) {
  return static_cast<std::byte*>(buffer.data);
}

std::byte* end_of(const Buffer& buffer) {
  return begin_of(buffer) + buffer.bytes;
}

// How the pinned memory is divided. Buffers that overlap on the device do so there, at the same distance:
// the host's backend then works in place too.
struct Layout {
  std::size_t input_at = 0;
  std::size_t output_at = 0;
  std::size_t bytes = 0;
};

Layout layout_of(const Buffer& input, const Buffer& output) {
  constexpr std::size_t kAlignment = 256;
  if (overlap(input, output)) {
    std::byte* first = std::min(begin_of(input), begin_of(output));
    const auto from_first = [first](const std::byte* place) {
      return static_cast<std::size_t>(place - first);
    };
    return {from_first(begin_of(input)), from_first(begin_of(output)),
            from_first(std::max(end_of(input), end_of(output)))};
  }
  const std::size_t output_at = (input.bytes + kAlignment - 1) / kAlignment * kAlignment;
  return {0, output_at, output_at + output.bytes};
}

device::cuda::Stream stream_on(int device) {
  const DeviceScope scope(device);
  return device::cuda::Stream::make();
}

}  // namespace

StagedCommunicator::StagedCommunicator(std::unique_ptr<Communicator> host, int device)
    : ForwardingCommunicator(std::move(host)), device_(device), stream_(stream_on(device)) {}

measure::Movement StagedCommunicator::run(const Operation& operation) {
  queue_.drain();
  return execute(operation);
}

Work StagedCommunicator::start(const Operation& operation, Completion on_done) {
  return queue_.put([this, operation, on_done = std::move(on_done)] {
    const measure::Movement movement = execute(operation);
    if (on_done) on_done(movement);
  });
}

// The copies count as busy: the bytes are on their way.
measure::Movement StagedCommunicator::execute(const Operation& operation) {
  if (!on_device(operation.input) && !on_device(operation.output)) return inner().run(operation);
  const base::TimePoint began = base::now();
  const DeviceScope scope(device_);
  const Operation on_host = staged(operation);
  const int rank = group().rank;
  if (reads_input(operation, rank)) copy_and_wait(on_host.input, operation.input);
  measure::Movement movement = inner().run(on_host);
  if (writes_output(operation, rank)) copy_and_wait(operation.output, on_host.output);
  movement.busy = base::now() - began;
  return movement;
}

Operation StagedCommunicator::staged(const Operation& operation) {
  const Layout layout = layout_of(operation.input, operation.output);
  if (layout.bytes > pinned_.bytes()) {
    pinned_ = {};
    pinned_ = Memory(MemoryKind::pinned, layout.bytes);
  }
  const auto at = [this](const Buffer& buffer, std::size_t offset) -> Buffer {
    if (!on_device(buffer)) return buffer;
    return {pinned_.data() + offset, buffer.bytes, buffer.type, Place::host};
  };
  Operation on_host = operation;
  on_host.input = at(operation.input, layout.input_at);
  on_host.output = at(operation.output, layout.output_at);
  return on_host;
}

void StagedCommunicator::copy_and_wait(const Buffer& to, const Buffer& from) {
  if (from.bytes == 0 || to.data == from.data) return;
  device::cuda::copy_on_stream(to.data, from.data, from.bytes, stream_.get());
  device::cuda::check(cudaStreamSynchronize(stream_.get()), "copying between a GPU and the host");
}

Allocation StagedCommunicator::allocate(std::size_t bytes) {
  const DeviceScope scope(device_);
  auto memory = std::make_shared<Memory>(MemoryKind::device, bytes);
  return {memory->data(), bytes, Place::device, [memory]() mutable { memory.reset(); }};
}

void StagedCommunicator::copy(const Buffer& to, const Buffer& from) {
  const DeviceScope scope(device_);
  copy_and_wait(to, from);
}

std::unique_ptr<Communicator> StagedCommunicator::split(int colour, int key) {
  queue_.drain();
  return ForwardingCommunicator::split(colour, key);
}

std::unique_ptr<Communicator> StagedCommunicator::duplicate() {
  queue_.drain();
  return ForwardingCommunicator::duplicate();
}

std::unique_ptr<Communicator> StagedCommunicator::wrap(std::unique_ptr<Communicator> made) {
  return std::make_unique<StagedCommunicator>(std::move(made), device_);
}

}  // namespace lockstep::comm
