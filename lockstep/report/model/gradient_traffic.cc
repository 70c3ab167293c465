#include "lockstep/report/model/gradient_traffic.h"

#include <fmt/format.h>

#include <map>

#include "lockstep/base/text.h"
#include "lockstep/predict/ring_cost.h"
#include "lockstep/report/model/cell_figures.h"

namespace lockstep::report {
namespace {

using measure::Collective;
using record::LedgerLine;
using record::RunRecord;

struct Traffic {
  Collective collective = Collective::all_reduce;
  double payload_bytes = 0;  // a step
  std::optional<double> busy_seconds;
};

// By name, over all links; rank 0 counts the payload of a collective.
std::map<std::string, Traffic> totals_of(const RunRecord& run) {
  std::map<std::string, Traffic> totals;
  for (const LedgerLine& line : run.ledger) {
    if (line.rank != 0 || line.purpose != "gradient") continue;
    Traffic& total = totals[line.collective];
    total.payload_bytes += static_cast<double>(line.payload_bytes.value_or(0));
    if (line.busy_seconds) total.busy_seconds = total.busy_seconds.value_or(0) + *line.busy_seconds;
  }
  return totals;
}

// The one with the most payload: the one whose bandwidth the record holds.
std::optional<Traffic> traffic_of(const RunRecord& run) {
  if (run.workers < 2 || run.steps.count == 0) return std::nullopt;
  std::optional<Traffic> most;
  for (const auto& [name, total] : totals_of(run)) {
    const auto collective = measure::collective_named(name);
    if (!collective || total.payload_bytes <= 0) continue;
    if (most && most->payload_bytes >= total.payload_bytes) continue;
    most = total;
    most->collective = *collective;
  }
  if (!most) return std::nullopt;
  const auto steps = static_cast<double>(run.steps.count);
  most->payload_bytes /= steps;
  if (most->busy_seconds) *most->busy_seconds /= steps;
  return most;
}

std::optional<double> payload_a_step(const RunRecord& run) {
  const auto traffic = traffic_of(run);
  return traffic ? std::optional(traffic->payload_bytes) : std::nullopt;
}

// What measure::bus_factor computes, as a formula.
const char* factor_text(Collective collective) {
  if (measure::bus_factor(collective, 2) == 0.5) return "(N-1)/N";
  return measure::bus_factor(collective, 4) > measure::bus_factor(collective, 2) ? "2(N-1)/N" : "1";
}

}  // namespace

std::optional<Collective> gradient_collective(const GridCell& cell) {
  if (cell.runs.empty()) return std::nullopt;
  const auto traffic = traffic_of(cell.runs.front());
  return traffic ? std::optional(traffic->collective) : std::nullopt;
}

std::optional<Number> gradient_payload(const GridCell& cell) {
  return figure(cell, payload_a_step);
}

std::optional<Number> gradient_busy_seconds(const GridCell& cell) {
  return figure(cell, [](const RunRecord& run) -> std::optional<double> {
    const auto traffic = traffic_of(run);
    return traffic ? traffic->busy_seconds : std::nullopt;
  });
}

std::optional<Number> gradient_transfer_seconds(const GridCell& cell) {
  return figure(cell, [](const RunRecord& run) -> std::optional<double> {
    const auto payload = payload_a_step(run);
    if (!payload || !run.comm.algorithm_bandwidth || *run.comm.algorithm_bandwidth <= 0) return std::nullopt;
    return *payload / *run.comm.algorithm_bandwidth;
  });
}

std::optional<Number> gradient_bound_seconds(const GridCell& cell) {
  const auto collective = gradient_collective(cell);
  const auto payload = gradient_payload(cell), peak = link_peak(cell);
  if (!collective || !payload || !peak || peak->value <= 0) return std::nullopt;
  const predict::LinkCost at_peak{0, peak->value, 0};
  return Number{predict::ring_seconds(*collective, payload->value, cell.workers, at_peak), std::nullopt, 1};
}

std::string bus_factors_text(const Grid& grid) {
  std::map<std::string, std::string> factors;  // by collective
  for (const GridCell& cell : grid.cells)
    if (const auto collective = gradient_collective(cell))
      factors[std::string(measure::name_of(*collective))] = factor_text(*collective);
  std::vector<std::string> texts;
  for (const auto& [collective, factor] : factors)
    texts.push_back(fmt::format("{} for {}", factor, collective));
  return texts.empty() ? "" : base::join(texts, ", ");
}

}  // namespace lockstep::report
