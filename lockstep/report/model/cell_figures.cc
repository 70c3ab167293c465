#include "lockstep/report/model/cell_figures.h"

#include <algorithm>

namespace lockstep::report {
namespace {

using record::LedgerLine;
using record::RunRecord;

template <class Of>
std::optional<Number> over_runs(const GridCell& cell, Of of) {
  std::vector<double> values;
  for (const RunRecord& run : cell.runs)
    if (const std::optional<double> value = of(run)) values.push_back(*value);
  return estimate(values);
}

std::optional<double> ledger_sum(const RunRecord& run, std::string_view purpose,
                                 std::optional<std::uint64_t> LedgerLine::*field) {
  std::optional<double> sum;
  for (const LedgerLine& line : run.ledger)
    if (line.purpose == purpose && line.*field) sum = sum.value_or(0) + static_cast<double>(*(line.*field));
  return sum;
}

}  // namespace

std::optional<Number> span_seconds(const GridCell& cell, const Span& span) {
  return over_runs(cell, [&](const RunRecord& run) {
    return run.steps.split_seconds ? (*run.steps.split_seconds).*span.member : std::nullopt;
  });
}

std::optional<Number> payload_of(const GridCell& cell, std::string_view purpose) {
  return over_runs(
      cell, [&](const RunRecord& run) { return ledger_sum(run, purpose, &LedgerLine::payload_bytes); });
}

std::optional<Number> wire_of(const GridCell& cell, std::string_view purpose) {
  return over_runs(cell,
                   [&](const RunRecord& run) { return ledger_sum(run, purpose, &LedgerLine::wire_bytes); });
}

bool wire_is_estimated(const GridCell& cell, std::string_view purpose) {
  return std::any_of(cell.runs.begin(), cell.runs.end(), [&](const RunRecord& run) {
    return std::any_of(run.ledger.begin(), run.ledger.end(), [&](const LedgerLine& line) {
      return line.purpose == purpose && line.estimated.value_or(false);
    });
  });
}

std::optional<Number> memory_use(const GridCell& cell, std::string_view use) {
  return over_runs(cell, [&](const RunRecord& run) -> std::optional<double> {
    if (!run.memory) return std::nullopt;
    const auto found = run.memory->by_use.find(std::string(use));
    if (found == run.memory->by_use.end()) return std::nullopt;
    return static_cast<double>(found->second);
  });
}

std::optional<Number> memory_cap(const GridCell& cell) {
  return over_runs(cell, [](const RunRecord& run) -> std::optional<double> {
    if (!run.memory || !run.memory->cap_bytes) return std::nullopt;
    return static_cast<double>(*run.memory->cap_bytes);
  });
}

std::optional<Number> steps_per_epoch(const GridCell& cell) {
  return over_runs(cell, [](const RunRecord& run) -> std::optional<double> {
    if (run.epochs.empty() || run.steps.count == 0 || run.epochs.back().unfinished.value_or(false))
      return std::nullopt;
    return static_cast<double>(run.steps.count) / static_cast<double>(run.epochs.size());
  });
}

std::optional<Number> gradient_bytes_per_step(const GridCell& cell) {
  return over_runs(cell, [](const RunRecord& run) -> std::optional<double> {
    const auto bytes = ledger_sum(run, "gradient", &LedgerLine::payload_bytes);
    if (!bytes || run.steps.count == 0) return std::nullopt;
    return *bytes / static_cast<double>(run.steps.count);
  });
}

std::optional<Number> transfer_seconds(const GridCell& cell) {
  return over_runs(cell, [](const RunRecord& run) -> std::optional<double> {
    if (!run.comm.busy_seconds) return std::nullopt;
    return std::max(0.0, *run.comm.busy_seconds - run.comm.peer_wait_seconds.value_or(0));
  });
}

std::optional<Number> link_peak(const GridCell& cell) {
  return figure(cell, [](const RunRecord& run) { return run.comm.link_peak; });
}

}  // namespace lockstep::report
