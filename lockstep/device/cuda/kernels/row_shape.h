// Maps in channels-last order as kernels see them, and the memory that sums over rows need.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::device::cuda {

inline constexpr int kOctet = 8;  // channels that a thread has

struct RowShape {
  std::int64_t rows = 0;      // images, height and width
  std::int64_t channels = 0;  // divisible by kOctet
};

// Memory of the device for sums over rows; used by one kernel at a time.
struct SumSpace {
  float* partials = nullptr;          // sum_partials(shape) of them
  std::uint32_t* arrivals = nullptr;  // sum_arrivals(shape) of them, zero before the first use
};

std::int64_t sum_partials(const RowShape& shape);
std::int64_t sum_arrivals(const RowShape& shape);

}  // namespace lockstep::device::cuda
