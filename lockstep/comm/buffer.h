// Buffers: where bytes lie. A Buffer is a view and owns nothing; an Allocation owns memory that a
// communicator put where it is fastest (shared memory, memory that peers can map).
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "lockstep/comm/element_type.h"

namespace lockstep::comm {

// Where memory lives: private to this process, shared with the other ranks of this host, or on a device.
enum class Place { host, shared, device };

struct Buffer {
  void* data = nullptr;
  std::size_t bytes = 0;
  ElementType type = ElementType::u8;
  Place place = Place::host;

  std::size_t count() const { return bytes / bytes_of(type); }
  // The part that starts `offset_bytes` in.
  Buffer part(std::size_t offset_bytes, std::size_t part_bytes) const {
    return {static_cast<std::byte*>(data) + offset_bytes, part_bytes, type, place};
  }
};

// A view of `count` elements of a plain type. The caller names the element type, since f16 and bf16 have no
// C++ type here.
inline Buffer host_buffer(void* data, std::size_t count, ElementType type) {
  return {data, count * bytes_of(type), type, Place::host};
}

// Memory from Communicator::allocate. Move-only; freed by whoever made it when it goes.
class Allocation {
 public:
  Allocation() = default;
  Allocation(void* data, std::size_t bytes, Place place, std::function<void()> release)
      : data_(data), bytes_(bytes), place_(place), release_(std::move(release)) {}
  Allocation(Allocation&& other) noexcept { swap(other); }
  Allocation& operator=(Allocation&& other) noexcept {
    Allocation(std::move(other)).swap(*this);
    return *this;
  }
  ~Allocation() {
    if (release_) release_();
  }

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Place place() const { return place_; }
  // The whole as elements of `type`.
  Buffer buffer(ElementType type) const { return {data_, bytes_, type, place_}; }

 private:
  void swap(Allocation& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(place_, other.place_);
    std::swap(release_, other.release_);
  }

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  Place place_ = Place::host;
  std::function<void()> release_;
};

}  // namespace lockstep::comm
