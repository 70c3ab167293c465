#include "lockstep/cli/bench/bench_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/counted.h"
#include "lockstep/base/units.h"

namespace lockstep::cli {
namespace {

constexpr const char* kColumns = "#{:>13}{:>14}{:>8}{:>8}{:>6}{:>12}{:>9}{:>9}{:>8}{:>12}{:>12}{:>8}{:>8}\n";
constexpr const char* kRow = "{:>14}{:>14}{:>8}{:>8}{:>6}{:>12}{:>9}{:>9}{:>8}{:>12}{:>12}{:>8}{:>8}\n";

// A time in microseconds with as many decimals as mean something.
std::string microseconds(double seconds) {
  const double value = seconds * 1e6;
  return fmt::format("{:.{}f}", value, value < 10 ? 3 : value < 1000 ? 2 : 1);
}

std::string gigabytes(double bytes_per_second) {
  const double value = bytes_per_second / 1e9;
  return fmt::format("{:.{}f}", value, value < 1 ? 3 : 2);
}

std::string percent(double share) {
  return fmt::format("{:.{}f}%", share * 100, share < 0.1 ? 1 : 0);
}

std::string header(const BenchReport& report) {
  const record::Machine& machine = report.machine;
  return fmt::format(
      "# lockstep bench {}\n# machine {}: {}, {}, {} of memory\n# workers {}{}\n"
      "# memory copy {} per rank, all ranks at once\n",
      report.version, machine.host, machine.cpu, base::counted(machine.cores, "core"),
      base::format_bytes(machine.memory_bytes), report.workers,
      report.rank_source.empty() ? "" : ", ranks from " + report.rank_source,
      base::format_rate(report.memory_copy_bytes_per_second));
}

std::string block_header(const BenchReport& report, const LaneFacts& lane, measure::Collective collective) {
  const std::string detail = lane.detail.empty() ? "" : " (" + lane.detail + ")";
  const std::string algorithm = lane.algorithm == "auto" ? "" : ", algorithm " + lane.algorithm;
  return fmt::format("#\n# {} over {}{}, {} buffers, link {}{}, {}\n", measure::name_of(collective),
                     lane.backend, detail, name_of(lane.buffer), lane.link, algorithm,
                     base::counted(report.workers, "worker")) +
         fmt::format(kColumns, "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong",
                     "min", "p99", "cv", "of-copy") +
         fmt::format(kColumns, "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)",
                     "(us)", "", "");
}

// Bus bandwidth against what the memory of this host can copy; means nothing for device memory.
std::string share_of_copy(const BenchReport& report, const CellResult& result) {
  const bool on_host = report.lanes[result.lane].place != comm::Place::device;
  if (!on_host || report.memory_copy_bytes_per_second <= 0) return "-";
  return percent(bus_bandwidth(result, report.workers) / report.memory_copy_bytes_per_second);
}

std::string row(const BenchReport& report, const CellResult& result) {
  const Cell& cell = result.cell;
  const Summary summary = summary_of(result);
  const std::string op = reduces(cell.collective) ? std::string(comm::name_of(cell.op)) : "none";
  const std::string root = has_root(cell.collective) ? std::to_string(cell.root) : "-1";
  const std::string wrong = result.wrong ? std::to_string(*result.wrong) : "N/A";
  return fmt::format(kRow, cell.bytes(), cell.count, comm::name_of(cell.type), op, root,
                     microseconds(summary.median), gigabytes(algorithm_bandwidth(result)),
                     gigabytes(bus_bandwidth(result, report.workers)), wrong, microseconds(summary.min),
                     microseconds(summary.p99), percent(summary.cv), share_of_copy(report, result));
}

std::string block(const BenchReport& report, std::size_t lane, measure::Collective collective) {
  std::string text = block_header(report, report.lanes[lane], collective);
  double total = 0;
  int rows = 0;
  for (const CellResult& result : report.results) {
    if (result.lane != lane || result.cell.collective != collective) continue;
    text += row(report, result);
    total += bus_bandwidth(result, report.workers);
    ++rows;
  }
  return text + fmt::format("# Average bus bandwidth: {} GB/s\n", gigabytes(total / std::max(1, rows)));
}

std::vector<measure::Collective> collectives_of(const BenchReport& report) {
  std::vector<measure::Collective> list;
  for (const CellResult& result : report.results)
    if (std::find(list.begin(), list.end(), result.cell.collective) == list.end())
      list.push_back(result.cell.collective);
  return list;
}

}  // namespace

std::string bench_table(const BenchReport& report) {
  std::string text = header(report);
  for (const measure::Collective collective : collectives_of(report))
    for (std::size_t lane = 0; lane < report.lanes.size(); ++lane) text += block(report, lane, collective);
  return text;
}

}  // namespace lockstep::cli
