// Which parameters' gradients are sent together. A *bucket* is filled in the order in which gradients become
// ready and is closed by the tensor that reaches its limit; the first one is small, so that communication
// begins early.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

namespace lockstep::parallel {

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

nlohmann::json to_json(const BucketLayout& layout);
// Throws DataError unless it holds each of `parameters` indices once.
BucketLayout bucket_layout_from_json(const nlohmann::json& json, std::size_t parameters);

}  // namespace lockstep::parallel
