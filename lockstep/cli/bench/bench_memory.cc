#include "lockstep/cli/bench/bench_memory.h"

#include <fmt/format.h>

#include <limits>

#include "lockstep/base/error.h"
#include "lockstep/base/units.h"

namespace lockstep::cli {
namespace {

std::uint64_t lanes_of(const BenchOptions& options) {
  const bool both = options.buffer == BufferChoice::both || options.buffer == BufferChoice::automatic;
  std::uint64_t lanes = 0;
  for (const std::string& backend : options.backends) {
    const auto found = options.algorithms.find(backend);
    const std::uint64_t algorithms = found == options.algorithms.end() ? 1 : found->second.size();
    lanes += algorithms * (both && backend == "shm" ? 2 : 1);
  }
  return lanes;
}

}  // namespace

std::uint64_t needed_bytes(const BenchOptions& options, int workers) {
  const std::uint64_t buffers = lanes_of(options) * static_cast<std::uint64_t>(workers);
  const bool overflows =
      buffers > 0 && options.max_bytes > std::numeric_limits<std::uint64_t>::max() / buffers;
  return overflows ? std::numeric_limits<std::uint64_t>::max() : options.max_bytes * buffers;
}

void require_memory(const BenchOptions& options, int workers, std::uint64_t memory_bytes) {
  const std::uint64_t needed = needed_bytes(options, workers);
  if (memory_bytes == 0 || needed <= memory_bytes) return;
  throw base::ConfigError(
      fmt::format("the buffers of {} workers for --max-bytes {} need {}, and this machine has {}. Choose a "
                  "smaller --max-bytes, fewer workers, or "
                  "fewer backends at a time.",
                  workers, base::format_bytes(options.max_bytes), base::format_bytes(needed),
                  base::format_bytes(memory_bytes)));
}

}  // namespace lockstep::cli
