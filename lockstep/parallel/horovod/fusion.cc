#include "lockstep/parallel/horovod/fusion.h"

#include <algorithm>
#include <numeric>

namespace lockstep::parallel::horovod {

std::vector<FusedGroup> plan_fusion(std::span<const std::size_t> ready, std::span<const std::uint64_t> bytes,
                                    std::uint64_t threshold) {
  std::vector<FusedGroup> groups;
  std::uint64_t filled = 0;
  for (const std::size_t tensor : ready) {
    if (groups.empty() || filled + bytes[tensor] > threshold) {
      groups.emplace_back();
      filled = 0;
    }
    groups.back().push_back(tensor);
    filled += bytes[tensor];
  }
  return groups;
}

std::uint64_t fusion_buffer_bytes(std::span<const std::uint64_t> bytes, std::uint64_t threshold) {
  if (bytes.empty()) return 0;
  const std::uint64_t all = std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
  return std::min(all, std::max(threshold, *std::max_element(bytes.begin(), bytes.end())));
}

}  // namespace lockstep::parallel::horovod
