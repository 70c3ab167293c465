#include "lockstep/cli/bench/bench_result.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/base/statistics.h"
#include "lockstep/base/text.h"
#include "lockstep/base/units.h"

namespace lockstep::cli {
namespace {

std::string describe(const BenchReport& report, const CellResult& result) {
  const LaneFacts& lane = report.lanes[result.lane];
  return fmt::format("{} over {} ({} buffers), {} of {}", measure::name_of(result.cell.collective),
                     lane.backend, name_of(lane.buffer), base::format_bytes(result.cell.bytes()),
                     comm::name_of(result.cell.type));
}

bool same_series(const CellResult& one, const CellResult& other) {
  return one.lane == other.lane && one.cell.collective == other.cell.collective &&
         one.cell.type == other.cell.type && one.cell.op == other.cell.op;
}

bool is_largest(const BenchReport& report, const CellResult& result) {
  return std::none_of(report.results.begin(), report.results.end(), [&](const CellResult& other) {
    return same_series(result, other) && other.cell.count > result.cell.count;
  });
}

}  // namespace

Summary summary_of(const CellResult& result) {
  return {base::median(result.samples), *std::min_element(result.samples.begin(), result.samples.end()),
          base::quantile(result.samples, 0.99), base::coefficient_of_variation(result.samples)};
}

double algorithm_bandwidth(const CellResult& result) {
  return static_cast<double>(result.cell.bytes()) / base::median(result.samples);
}

double bus_bandwidth(const CellResult& result, int workers) {
  return algorithm_bandwidth(result) * measure::bus_factor(result.cell.collective, workers);
}

std::string name_of(BufferChoice buffer) {
  return buffer == BufferChoice::owned ? "owned" : "private";
}

void require_right(const BenchReport& report) {
  std::vector<std::string> complaints;
  for (const CellResult& result : report.results)
    if (result.wrong.value_or(0) > 0)
      complaints.push_back(fmt::format("{}: {} wrong", describe(report, result), *result.wrong));
  if (complaints.empty()) return;
  throw base::VerificationError(
      fmt::format("wrong elements: {}. The backend or its library computes wrongly here; "
                  "compare with another --backend or --algorithm.",
                  base::join(complaints, "; ")));
}

void require_fast(const BenchReport& report, double min_busbw) {
  std::vector<std::string> complaints;
  for (const CellResult& result : report.results) {
    if (result.cell.collective == measure::Collective::barrier || !is_largest(report, result)) continue;
    const double busbw = bus_bandwidth(result, report.workers);
    if (busbw < min_busbw)
      complaints.push_back(fmt::format("{}: {}", describe(report, result), base::format_rate(busbw)));
  }
  if (complaints.empty()) return;
  throw base::ThresholdError(fmt::format("bus bandwidth below the {} of --min-busbw: {}.",
                                         base::format_rate(min_busbw), base::join(complaints, "; ")));
}

}  // namespace lockstep::cli
