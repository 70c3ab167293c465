// Elements and reductions on the device, with the same results as lockstep/comm/reduction on the host: inputs
// are combined first to last, 16-bit floats in f32 and rounded once, sums of integers wrap around, and a mean
// is the sum divided. Included by kernels only.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

namespace lockstep::comm::elements {

// What lies in memory, and what it is combined as.
template <typename T>
struct Plain {
  using Stored = T;
  using Combined = T;
  __device__ static T widen(T value) { return value; }
  __device__ static T narrow(T value) { return value; }
};

struct Float16 {
  using Stored = unsigned short;
  using Combined = float;
  __device__ static float widen(unsigned short bits) { return __half2float(__ushort_as_half(bits)); }
  __device__ static unsigned short narrow(float value) { return __half_as_ushort(__float2half_rn(value)); }
};

struct BFloat16 {
  using Stored = unsigned short;
  using Combined = float;
  __device__ static float widen(unsigned short bits) {
    return __uint_as_float(static_cast<unsigned int>(bits) << 16);
  }
  // To nearest, ties to even; a NaN stays one.
  __device__ static unsigned short narrow(float value) {
    const unsigned int bits = __float_as_uint(value);
    const unsigned int rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const unsigned int quiet = (bits >> 16) | 0x40u;
    return static_cast<unsigned short>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
  }
};

struct Sum {
  static constexpr bool kMean = false;
  template <typename T>
  __device__ static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
    } else {
      return a + b;
    }
  }
};
struct Mean : Sum {
  static constexpr bool kMean = true;
};
struct Max {
  static constexpr bool kMean = false;
  template <typename T>
  __device__ static T apply(T a, T b) {
    return a < b ? b : a;
  }
};
struct Min {
  static constexpr bool kMean = false;
  template <typename T>
  __device__ static T apply(T a, T b) {
    return b < a ? b : a;
  }
};

template <typename Op, typename T>
__device__ inline T finished(T value, unsigned ranks) {
  if constexpr (Op::kMean) return static_cast<T>(value / static_cast<T>(ranks));
  return value;
}

}  // namespace lockstep::comm::elements
