// e^x for kernels, in a few operations that vectorise. Only for files that are compiled once per instruction
// set: it is static, so that no copy for a newer processor can end up in code for an older one.
#pragma once

#include <cstdint>

namespace lockstep::models::kernels {

// For x <= 0: a power of two and a polynomial on the rest.
[[maybe_unused]] static inline float exponential(float x) {
  x = x < -87.0F ? -87.0F : x;
  const float turns = x * 1.44269504F;
  const auto whole = static_cast<std::int32_t>(turns - 0.5F);  // towards zero: the nearest, for x <= 0
  const auto n = static_cast<float>(whole);
  const float r = x - n * 0.693359375F + n * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  return p * __builtin_bit_cast(float, (whole + 127) << 23);
}

}  // namespace lockstep::models::kernels
