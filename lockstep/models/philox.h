// Philox 4x32-10, a counter-based random generator: word i of a stream is a pure function of (key, stream,
// i), so any part of it can be computed anywhere, in any order, by any number of threads, with the same
// result.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lockstep::models {

// A stream of random words. Streams with different keys or different numbers are independent.
struct PhiloxStream {
  std::uint64_t key = 0;
  std::uint64_t stream = 0;
};

// Mixes numbers into a stream number; the order of the arguments matters.
std::uint64_t philox_mix(std::uint64_t one, std::uint64_t other);
std::uint64_t philox_hash(std::string_view text);

// Each fills `out` from the start of the stream: the first n values do not depend on out.size().
void philox_words(const PhiloxStream& stream, std::span<std::uint32_t> out);
void philox_uniform(const PhiloxStream& stream, float low, float high, std::span<float> out);
void philox_normal(const PhiloxStream& stream, float deviation, std::span<float> out);

// A dropout mask: 0 with the probability `drop`, else 1/(1 - drop).
void philox_mask(const PhiloxStream& stream, double drop, std::span<float> out);

}  // namespace lockstep::models
