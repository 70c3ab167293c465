// One rank's part of one step, as plain memory. The memory belongs to a pool and goes back to it when the
// last copy of the batch (or of a tensor made from it) is gone.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "lockstep/data/image.h"
#include "lockstep/data/sampler.h"

namespace lockstep::data {

// Vectors that begin on a cache line, as kernels like their input.
template <class T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};
  CacheLineAllocator() = default;
  template <class U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, kLine); }
  bool operator==(const CacheLineAllocator&) const = default;
};
using Floats = std::vector<float, CacheLineAllocator<float>>;

struct BatchMemory {
  Floats inputs;                     // [count, channels, height, width]
  std::vector<std::int64_t> labels;  // classification: [count]
  Floats targets;                    // steering: [count]; restoration: like the inputs
  // Of a device that reads the memory above by itself. Stands last, so that it is let go of before that
  // memory.
  std::shared_ptr<void> pinned;
};

struct Batch {
  StepPlan plan;
  record::Task task = record::Task::classification;
  ImageShape input;
  std::shared_ptr<BatchMemory> memory;
  std::size_t count() const { return plan.samples.size(); }
};

// Memory for batches, used again and again. Any thread may take; giving back happens where a batch dies.
class BatchPool {
 public:
  BatchPool();
  std::shared_ptr<BatchMemory> take();
  // How many there are, in use or not: what is bounded when a loader's queue is.
  std::size_t made() const;

 private:
  struct Shelf;
  std::shared_ptr<Shelf> shelf_;
};

}  // namespace lockstep::data
