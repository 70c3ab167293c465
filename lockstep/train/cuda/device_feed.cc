#include "lockstep/train/gpu.h"

#include <ATen/ATen.h>

#include <array>
#include <cstring>

#include "lockstep/data/torch/tensors.h"
#include "lockstep/device/cuda/cuda_error.h"
#include "lockstep/device/cuda/cuda_memory.h"
#include "lockstep/device/cuda/cuda_stream.h"
#include "lockstep/device/cuda/host_pin.h"
#include "lockstep/parallel/cuda/torch_stream.h"

namespace lockstep::train {
namespace {

using device::cuda::Event;
using device::cuda::HostPin;
using device::cuda::Stream;

// The loader uses its memory again and again, so pinning it pays. Vectors that have moved are pinned anew.
class BatchPins {
 public:
  void cover(data::Floats& values, std::unique_ptr<HostPin>& pin) {
    if (values.empty()) return;
    const std::size_t bytes = values.size() * sizeof(float);
    if (pin != nullptr && pin->covers(values.data(), bytes)) return;
    pin.reset();
    pin = std::make_unique<HostPin>(values.data(), values.capacity() * sizeof(float));
  }
  std::unique_ptr<HostPin> inputs, targets;
};

void pin(data::BatchMemory& memory) {
  if (memory.pinned == nullptr) memory.pinned = std::make_shared<BatchPins>();
  auto& pins = *static_cast<BatchPins*>(memory.pinned.get());
  pins.cover(memory.inputs, pins.inputs);
  pins.cover(memory.targets, pins.targets);
}

// Memory of the device that is made once and used for every batch of at most that size.
class Room {
 public:
  explicit Room(at::MemoryFormat order = at::MemoryFormat::Contiguous) : order_(order) {}
  // As large as `like` in its first dimension or larger.
  at::Tensor like(const at::Tensor& like, const at::TensorOptions& options) {
    const at::MemoryFormat order = like.dim() == 4 ? order_ : at::MemoryFormat::Contiguous;
    if (!whole_.defined() || whole_.size(0) < like.size(0)) whole_ = at::empty(like.sizes(), options, order);
    return whole_.narrow(0, 0, like.size(0));
  }

 private:
  at::MemoryFormat order_;
  at::Tensor whole_;
};

// Where a copy arrives. Not memory of torch's: what that hands out may still be in use on the stream that it
// was freed on, which the stream of the copies knows nothing of.
class Landing {
 public:
  explicit Landing(measure::MemoryAccount& account) : account_(account) {}
  at::Tensor like(const at::Tensor& host, const at::Device& device) {
    if (memory_.bytes() < host.nbytes()) {
      reserved_ = measure::Reservation(account_, measure::Use::other, host.nbytes());
      memory_ = device::cuda::Memory(device::cuda::MemoryKind::device, host.nbytes());
    }
    return at::from_blob(memory_.data(), host.sizes(), host.options().pinned_memory(false).device(device));
  }

 private:
  measure::MemoryAccount& account_;
  measure::Reservation reserved_;
  device::cuda::Memory memory_;
};

// A batch on its way: what it comes from stays until it has arrived.
struct Transfer {
  explicit Transfer(measure::MemoryAccount& account) : inputs(account), targets(account), words(account) {}
  std::shared_ptr<data::BatchMemory> source;
  at::Tensor words_source;
  Landing inputs, targets, words;
  Event arrived;
  Event used;  // by what the device computes
};

// [1 + 2 * count]: the step, the samples, and the labels where there are any.
at::Tensor words_of(const data::Batch& batch, const at::Tensor& labels, std::int64_t step) {
  const auto count = static_cast<std::int64_t>(batch.count());
  at::Tensor words = at::empty({1 + 2 * count}, at::TensorOptions().dtype(at::kLong).pinned_memory(true));
  auto* word = words.data_ptr<std::int64_t>();
  *word++ = step;
  for (const auto sample : batch.plan.samples) *word++ = static_cast<std::int64_t>(sample);
  if (labels.defined()) std::memcpy(word, labels.data_ptr(), labels.nbytes());
  return words;
}

class CudaFeed final : public DeviceFeed {
 public:
  CudaFeed(const Placement& placement, measure::MemoryAccount& account)
      : placement_(placement),
        copies_(Stream::make()),
        transfers_{Transfer(account), Transfer(account)},
        inputs_(placement.channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous) {}

  DeviceBatch take(const data::Batch& batch, std::int64_t step) override {
    Transfer& transfer = transfers_[next_++ % transfers_.size()];
    device::cuda::check(cudaEventSynchronize(transfer.arrived.get()), "waiting for an earlier batch");
    pin(*batch.memory);
    transfer.source = batch.memory;
    const data::TensorBatch host = data::to_tensors(batch);
    transfer.words_source = words_of(batch, host.labels, step);
    copies_.wait_for(transfer.used.get());
    DeviceBatch taken = move(host, transfer);
    taken.samples.assign(batch.plan.samples.begin(), batch.plan.samples.end());
    taken.plan = batch.plan;
    return taken;
  }

 private:
  // To the device by the stream for copies, and there, in the order of what is computed, to where batches
  // are.
  DeviceBatch move(const data::TensorBatch& host, Transfer& transfer) {
    const at::Tensor inputs = send(host.inputs, transfer.inputs);
    const at::Tensor words = send(transfer.words_source, transfer.words);
    const at::Tensor targets = host.labels.defined() ? at::Tensor() : send(host.targets, transfer.targets);
    transfer.arrived.record(copies_.get());
    const cudaStream_t computes = parallel::torch_stream();
    Stream::borrow(computes).wait_for(transfer.arrived.get());
    DeviceBatch taken;
    taken.inputs = inputs_.like(inputs, on_device(placement_.type)).copy_(inputs);
    const at::Tensor key = words_.like(words, on_device(at::kLong)).copy_(words);
    const std::int64_t count = inputs.size(0);
    taken.device_step = key.data_ptr<std::int64_t>();
    taken.device_samples = taken.device_step + 1;
    taken.targets = targets.defined() ? targets_.like(targets, on_device(placement_.type)).copy_(targets)
                                      : key.narrow(0, 1 + count, count);
    transfer.used.record(computes);
    return taken;
  }

  at::Tensor send(const at::Tensor& from, Landing& landing) {
    at::Tensor to = landing.like(from, placement_.device);
    device::cuda::copy_on_stream(to.data_ptr(), from.data_ptr(), from.nbytes(), copies_.get());
    return to;
  }

  at::TensorOptions on_device(at::ScalarType type) const {
    return at::TensorOptions().dtype(type).device(placement_.device);
  }

  Placement placement_;
  Stream copies_;
  std::array<Transfer, 2> transfers_;
  std::size_t next_ = 0;
  Room inputs_, targets_, words_;  // where every batch is computed with
};

}  // namespace

std::unique_ptr<DeviceFeed> device_feed(const Placement& placement, measure::MemoryAccount& memory) {
  return std::make_unique<CudaFeed>(placement, memory);
}

}  // namespace lockstep::train
