#include "lockstep/cli/bench/bench_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lockstep/base/error.h"

namespace lockstep::cli {
namespace {

using measure::Collective;

std::size_t whole_elements(std::uint64_t payload_bytes, comm::ElementType type, std::size_t multiple) {
  const std::size_t unit_bytes = comm::bytes_of(type) * multiple;
  const std::size_t units = payload_bytes / unit_bytes;
  return (units == 0 && payload_bytes > 0 ? 1 : units) * multiple;
}

std::vector<comm::ReduceOp> ops_for(Collective collective, const BenchOptions& options) {
  return reduces(collective) ? options.ops : std::vector<comm::ReduceOp>{comm::ReduceOp::sum};
}

void add_sizes(std::vector<Cell>& cells, Cell cell, const BenchOptions& options, int world) {
  const std::size_t multiple = has_parts(cell.collective) ? static_cast<std::size_t>(world) : 1;
  std::optional<std::size_t> last;
  for (const std::uint64_t bytes : payload_sizes(options)) {
    cell.count = whole_elements(bytes, cell.type, multiple);
    if (last != cell.count) cells.push_back(cell);
    last = cell.count;
  }
}

}  // namespace

bool reduces(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::reduce ||
         collective == Collective::reduce_scatter;
}

bool has_root(Collective collective) {
  return collective == Collective::reduce || collective == Collective::broadcast ||
         collective == Collective::gather || collective == Collective::scatter;
}

bool has_parts(Collective collective) {
  return collective == Collective::reduce_scatter || collective == Collective::all_gather ||
         collective == Collective::gather || collective == Collective::scatter;
}

std::vector<std::uint64_t> payload_sizes(const BenchOptions& options) {
  std::vector<std::uint64_t> sizes = {options.min_bytes};
  while (true) {
    const std::uint64_t last = sizes.back();
    const auto grown = static_cast<std::uint64_t>(std::floor(static_cast<double>(last) * options.factor));
    const std::uint64_t next = options.step_bytes > 0 ? last + options.step_bytes : std::max(grown, last + 1);
    if (next > options.max_bytes) return sizes;
    sizes.push_back(next);
  }
}

std::vector<Cell> plan_cells(const BenchOptions& options, int world) {
  std::vector<Cell> cells;
  for (const Collective collective : options.collectives) {
    if (collective == Collective::barrier) {
      cells.push_back({collective, comm::ElementType::u8, comm::ReduceOp::sum, 0, 0});
      continue;
    }
    for (const comm::ElementType type : options.types)
      for (const comm::ReduceOp op : ops_for(collective, options))
        add_sizes(cells, {collective, type, op, has_root(collective) ? options.root.value_or(0) : 0, 0},
                  options, world);
  }
  return cells;
}

void check_world(const BenchOptions& options, int world) {
  if (options.root.value_or(0) >= world)
    throw base::ConfigError(fmt::format("--root {}: there is no such rank among {}.", *options.root, world));
  const bool sends = std::find(options.collectives.begin(), options.collectives.end(), Collective::send) !=
                     options.collectives.end();
  if (sends && world < 2) throw base::ConfigError("send needs two ranks, and there is one: use --workers 2.");
}

std::vector<BufferChoice> buffer_kinds(BufferChoice choice, comm::Place place, bool any_all_reduce) {
  if (place == comm::Place::device) {
    if (choice == BufferChoice::private_)
      throw base::ConfigError("--buffer private: this backend moves device memory only. Use --buffer owned.");
    return {BufferChoice::owned};
  }
  if (choice == BufferChoice::owned || choice == BufferChoice::private_) return {choice};
  if (place == comm::Place::host) return {BufferChoice::private_};
  if (choice == BufferChoice::automatic && !any_all_reduce) return {BufferChoice::owned};
  return {BufferChoice::owned, BufferChoice::private_};
}

Effort plan_effort(const std::vector<double>& lane_seconds, int iterations) {
  constexpr double kSampleSeconds = 100e-6;  // a thousand times what reading the clock costs
  constexpr double kBudgetSecondsPerLane = 0.3;
  constexpr int kFewestSamples = 5, kMostSamples = 400;
  const double fastest = std::max(1e-9, *std::min_element(lane_seconds.begin(), lane_seconds.end()));
  const double together = std::accumulate(lane_seconds.begin(), lane_seconds.end(), 0.0);
  Effort effort;
  effort.batch = static_cast<int>(std::clamp(std::ceil(kSampleSeconds / fastest), 1.0, 1000.0));
  if (iterations > 0) {
    effort.batch = std::min(effort.batch, std::max(1, iterations / kFewestSamples));
    effort.samples = std::max(1, iterations / effort.batch);
    return effort;
  }
  const double budget = kBudgetSecondsPerLane * static_cast<double>(lane_seconds.size());
  const double affordable = budget / std::max(1e-9, together * effort.batch);
  effort.samples = static_cast<int>(
      std::clamp(affordable, static_cast<double>(kFewestSamples), static_cast<double>(kMostSamples)));
  return effort;
}

}  // namespace lockstep::cli
