#include "lockstep/data/batch.h"

#include <mutex>

namespace lockstep::data {

// Shared with the batches that are out: it outlives the pool as long as one of them does.
struct BatchPool::Shelf {
  std::mutex mutex;
  std::vector<std::unique_ptr<BatchMemory>> free;
  std::size_t made = 0;

  std::unique_ptr<BatchMemory> take() {
    const std::lock_guard lock(mutex);
    if (free.empty()) {
      ++made;
      return std::make_unique<BatchMemory>();
    }
    auto memory = std::move(free.back());
    free.pop_back();
    return memory;
  }
  void give_back(std::unique_ptr<BatchMemory> memory) {
    const std::lock_guard lock(mutex);
    free.push_back(std::move(memory));
  }
};

BatchPool::BatchPool() : shelf_(std::make_shared<Shelf>()) {}

std::shared_ptr<BatchMemory> BatchPool::take() {
  return {shelf_->take().release(),
          [shelf = shelf_](BatchMemory* memory) { shelf->give_back(std::unique_ptr<BatchMemory>(memory)); }};
}

std::size_t BatchPool::made() const {
  const std::lock_guard lock(shelf_->mutex);
  return shelf_->made;
}

}  // namespace lockstep::data
