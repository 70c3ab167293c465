#include "lockstep/report/model/cell_figures.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>

#include "lockstep/report/model/last_epoch.h"

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

// "274 MiB" after the words, in bytes.
std::optional<double> bytes_after(const std::string& text, std::string_view words) {
  static const std::map<std::string, double> kUnits = {
      {"B", 1.0}, {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0}};
  const std::size_t place = text.find(words);
  if (place == std::string::npos) return std::nullopt;
  const char* begin = text.c_str() + place + words.size();
  char* end = nullptr;
  const double number = std::strtod(begin, &end);
  if (end == begin || *end != ' ') return std::nullopt;
  std::string unit;
  for (const char* letter = end + 1; std::isalpha(static_cast<unsigned char>(*letter)); ++letter)
    unit += *letter;
  const auto known = kUnits.find(unit);
  return known == kUnits.end() ? std::nullopt : std::optional(number * known->second);
}

const record::RankFigures* find_rank(const RunRecord& run, int rank) {
  for (const record::RankFigures& figures : run.per_rank)
    if (figures.rank == rank) return &figures;
  return nullptr;
}

std::optional<double> sum_of(const std::optional<record::SplitSeconds>& split) {
  if (!split) return std::nullopt;
  double seconds = 0;
  for (const Span& span : kSpans) seconds += ((*split).*span.member).value_or(0);
  return seconds;
}

// Where records do not tell ranks apart, what they say is rank 0's.
std::optional<RankWait> wait_of_rank_0(const GridCell& cell) {
  const auto wait = over_runs(cell, [](const RunRecord& run) -> std::optional<double> {
    if (!run.comm.peer_wait_seconds || !run.comm.exposed_seconds) return std::nullopt;
    return std::min(*run.comm.peer_wait_seconds, *run.comm.exposed_seconds);
  });
  const auto step = over_runs(cell, [](const RunRecord& run) { return sum_of(run.steps.split_seconds); });
  if (!wait || !step) return std::nullopt;
  return RankWait{0, *wait, step->value};
}

std::optional<RankWait> wait_of_rank(const GridCell& cell, int rank) {
  const auto wait = over_runs(cell, [&](const RunRecord& run) -> std::optional<double> {
    const record::RankFigures* figures = find_rank(run, rank);
    return figures == nullptr ? std::nullopt : exposed_wait(*figures);
  });
  const auto step = over_runs(cell, [&](const RunRecord& run) -> std::optional<double> {
    const record::RankFigures* figures = find_rank(run, rank);
    return figures == nullptr ? std::nullopt : sum_of(figures->split_seconds);
  });
  if (!wait || !step) return std::nullopt;
  return RankWait{rank, *wait, step->value};
}

const RunRecord* out_of_memory(const GridCell& cell) {
  for (const RunRecord& run : cell.others)
    if (run.status == "out_of_memory") return &run;
  return nullptr;
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
    if (run.epochs.empty() || run.steps.count == 0 || run.epochs.back().unfinished.value_or(false) ||
        was_resumed(run))
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

std::optional<Number> link_peak(const GridCell& cell) {
  return figure(cell, [](const RunRecord& run) { return run.comm.link_peak; });
}

bool is_peak_known(const Grid& grid) {
  return std::any_of(grid.cells.begin(), grid.cells.end(), [](const GridCell& cell) {
    const auto peak = link_peak(cell);
    return cell.workers > 1 && peak && peak->value > 0;
  });
}

std::optional<Number> hidden_seconds(const GridCell& cell) {
  return figure(cell, [](const RunRecord& run) -> std::optional<double> {
    if (!run.comm.busy_seconds || !run.comm.exposed_seconds) return std::nullopt;
    return std::max(0.0, *run.comm.busy_seconds - *run.comm.exposed_seconds);
  });
}

std::optional<double> exposed_wait(const record::RankFigures& rank) {
  const std::optional<double> exposed = rank.exposed_seconds ? rank.exposed_seconds
                                        : rank.split_seconds ? rank.split_seconds->exposed_comm
                                                             : std::nullopt;
  if (!exposed || !rank.peer_wait_seconds) return std::nullopt;
  return std::min(*exposed, *rank.peer_wait_seconds);
}

std::optional<RankWait> longest_wait(const GridCell& cell) {
  if (cell.runs.empty()) return std::nullopt;
  std::optional<RankWait> longest = wait_of_rank_0(cell);
  for (const record::RankFigures& figures : cell.runs.front().per_rank)
    if (auto wait = wait_of_rank(cell, figures.rank))
      if (!longest || wait->wait.value > longest->wait.value) longest = std::move(wait);
  return longest;
}

std::optional<Number> rest_seconds(const GridCell& cell) {
  return figure(cell, [](const RunRecord& run) -> std::optional<double> {
    const record::WallSeconds& wall = run.wall_seconds;
    if (!wall.total) return std::nullopt;
    return std::max(0.0, *wall.total - wall.launch.value_or(0) - wall.load.value_or(0) -
                             wall.train.value_or(0) - wall.validate.value_or(0));
  });
}

std::string rest_heading(const Grid& grid) {
  const bool known = std::any_of(grid.cells.begin(), grid.cells.end(), [](const GridCell& cell) {
    return figure(cell, "launch_seconds").has_value();
  });
  return known ? "other" : "launch and the rest";
}

std::int64_t measured_steps(const GridCell& cell) {
  if (cell.runs.empty()) return 0;
  const record::StepFigures& steps = cell.runs.front().steps;
  return steps.count - steps.warmup;
}

std::optional<double> needed_bytes(const GridCell& cell) {
  const RunRecord* run = out_of_memory(cell);
  if (run == nullptr || !run->failure) return std::nullopt;
  if (const auto& needed = run->failure->needed_bytes) {
    // So near the cap it is where the step was refused, and not what it needs.
    constexpr double kRefusedAt = 1.02;
    const double cap = static_cast<double>(run->failure->cap_bytes.value_or(0));
    if (static_cast<double>(*needed) < kRefusedAt * cap) return std::nullopt;
    return static_cast<double>(*needed);
  }
  return bytes_after(run->failure->message, "needs about ");  // of a record that has it in words alone
}

std::optional<double> cap_of_failure(const GridCell& cell) {
  const RunRecord* run = out_of_memory(cell);
  if (run == nullptr) return std::nullopt;
  if (run->failure && run->failure->cap_bytes) return static_cast<double>(*run->failure->cap_bytes);
  if (run->memory && run->memory->cap_bytes) return static_cast<double>(*run->memory->cap_bytes);
  if (run->spec.is_object() && run->spec.contains("device_memory") && run->spec["device_memory"].is_number())
    return run->spec["device_memory"].get<double>();
  return run->failure ? bytes_after(run->failure->message, "the cap is ") : std::nullopt;
}

}  // namespace lockstep::report
