// libtorch's inside as this module needs it, and all that is known of it here: versions differ in these few
// lines alone. For what else the module asks of libtorch there are public interfaces.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

namespace lockstep::measure {

// Gives tensors of the host their memory, once it is installed. libtorch keeps the pointer for good.
class HostAllocator : public c10::Allocator {
 public:
  // libtorch calls the first until 2.2, the second from then on: each overrides in one of them.
  c10::DataPtr allocate(std::size_t bytes) const { return const_cast<HostAllocator&>(*this).give(bytes); }
  c10::DataPtr allocate(std::size_t bytes) { return give(bytes); }
  // Asked for by libtorch 2 only.
  void copy_data(void* to, const void* from, std::size_t bytes) const { std::memcpy(to, from, bytes); }

 protected:
  virtual c10::DataPtr give(std::size_t bytes) = 0;
};

inline void install_host_allocator(HostAllocator& allocator) {
  constexpr std::uint8_t kPriority = 100;  // libtorch's own has 0
  c10::SetCPUAllocator(&allocator, kPriority);
}

// Is told by libtorch's allocators what they give out (bytes > 0) and get back (bytes < 0), on the thread
// that asks, while a scope below is open.
class MemoryReports : public c10::MemoryReportingInfoBase {
 public:
  // libtorch 1 calls the first, libtorch 2 the second.
  void reportMemoryUsage(void* address, std::int64_t bytes, std::int64_t, std::int64_t, c10::Device device) {
    hear(address, bytes, device);
  }
  void reportMemoryUsage(void* address, std::int64_t bytes, std::size_t, std::size_t, c10::Device device) {
    hear(address, bytes, device);
  }
  bool memoryProfilingEnabled() const final { return true; }

 protected:
  virtual void hear(void* address, std::int64_t bytes, c10::Device device) noexcept = 0;
};

// libtorch carries such information from a thread to those that compute its backward.
using CarriedScope = c10::DebugInfoGuard;

inline std::unique_ptr<CarriedScope> report_memory_to(std::shared_ptr<MemoryReports> listener) {
  return std::make_unique<CarriedScope>(c10::DebugInfoKind::PROFILER_STATE, std::move(listener));
}

// Information of a kind that libtorch itself has none of.
inline std::unique_ptr<CarriedScope> carry(std::shared_ptr<c10::DebugInfoBase> information) {
  return std::make_unique<CarriedScope>(c10::DebugInfoKind::PRODUCER_INFO, std::move(information));
}

template <class Information>
const Information* carried_here() {
  return dynamic_cast<const Information*>(c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PRODUCER_INFO));
}

}  // namespace lockstep::measure
