// Which parameters' gradients are sent together. A *bucket* is filled in the order in which gradients become
// ready and is closed by the tensor that reaches its limit; the first one is small, so that communication
// begins early.
//
// In a bucket, tensors whose bytes are a multiple of 16 come first, so that they and the first of the others
// begin at a multiple of 16 wherever the bucket does: kernels read so many bytes at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

namespace lockstep::parallel {

// Buckets begin at multiples of this many bytes. What is between two of them is memory only: it is never
// sent.
inline constexpr std::size_t kBucketAlignment = 256;
constexpr std::size_t aligned_for_a_bucket(std::size_t offset) {
  return (offset + kBucketAlignment - 1) / kBucketAlignment * kBucketAlignment;
}

// Whether a tensor of so many bytes leaves what comes after it aligned.
constexpr bool keeps_alignment(std::uint64_t bytes) {
  return bytes % 16 == 0;
}

struct BucketLimits {
  std::uint64_t first_bytes = 1 << 20;
  std::uint64_t bytes = 25 << 20;
};

struct BucketLayout {
  std::vector<std::vector<std::size_t>> buckets;  // of parameter indices
  bool operator==(const BucketLayout&) const = default;

  // All parameters, bucket after bucket.
  std::vector<std::size_t> order() const;
};

// `order` holds every index of `parameter_bytes` once.
BucketLayout lay_out(std::span<const std::size_t> order, std::span<const std::uint64_t> parameter_bytes,
                     const BucketLimits& limits);

// How many buckets there are at the most, in whatever order the parameters come.
std::size_t most_buckets(std::span<const std::uint64_t> parameter_bytes, const BucketLimits& limits);

nlohmann::json to_json(const BucketLayout& layout);
// Throws DataError unless it holds each of `parameters` indices once.
BucketLayout bucket_layout_from_json(const nlohmann::json& json, std::size_t parameters);

}  // namespace lockstep::parallel
