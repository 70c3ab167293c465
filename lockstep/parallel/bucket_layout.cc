#include "lockstep/parallel/bucket_layout.h"

#include <algorithm>
#include <numeric>

#include "lockstep/base/error.h"

namespace lockstep::parallel {

std::vector<std::size_t> BucketLayout::order() const {
  std::vector<std::size_t> all;
  for (const auto& bucket : buckets) all.insert(all.end(), bucket.begin(), bucket.end());
  return all;
}

BucketLayout lay_out(std::span<const std::size_t> order, std::span<const std::uint64_t> parameter_bytes,
                     const BucketLimits& limits) {
  BucketLayout layout;
  std::uint64_t filled = 0;
  bool open = false;
  for (const std::size_t parameter : order) {
    if (!open) layout.buckets.emplace_back();
    layout.buckets.back().push_back(parameter);
    filled = (open ? filled : 0) + parameter_bytes[parameter];
    open = filled < (layout.buckets.size() == 1 ? limits.first_bytes : limits.bytes);
  }
  for (auto& bucket : layout.buckets)
    std::stable_partition(bucket.begin(), bucket.end(),
                          [&](std::size_t parameter) { return keeps_alignment(parameter_bytes[parameter]); });
  return layout;
}

// All but the last are as large as their limits say, at least.
std::size_t most_buckets(std::span<const std::uint64_t> parameter_bytes, const BucketLimits& limits) {
  const std::uint64_t all = std::accumulate(parameter_bytes.begin(), parameter_bytes.end(), std::uint64_t{0});
  if (all <= limits.first_bytes) return 1;
  const std::uint64_t most = 2 + (all - limits.first_bytes) / limits.bytes;
  return static_cast<std::size_t>(std::min<std::uint64_t>(most, parameter_bytes.size()));
}

nlohmann::json to_json(const BucketLayout& layout) {
  return layout.buckets;
}

BucketLayout bucket_layout_from_json(const nlohmann::json& json, std::size_t parameters) {
  BucketLayout layout;
  try {
    layout.buckets = json.get<std::vector<std::vector<std::size_t>>>();
  } catch (const nlohmann::json::exception&) {
    throw base::DataError("the checkpoint's bucket layout is not a list of lists of numbers.");
  }
  std::vector<std::size_t> found = layout.order();
  std::sort(found.begin(), found.end());
  bool good = found.size() == parameters;
  for (std::size_t index = 0; good && index < parameters; ++index) good = found[index] == index;
  if (!good) throw base::DataError("the checkpoint's bucket layout belongs to another model.");
  return layout;
}

}  // namespace lockstep::parallel
