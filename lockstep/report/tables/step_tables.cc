// Tables about where time, bytes and memory went.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lockstep/report/model/cell_figures.h"
#include "lockstep/report/model/gradient_traffic.h"
#include "lockstep/report/tables/tables.h"

namespace lockstep::report {
namespace {

template <class Fill>
void for_each_measured(Table& table, const Subject& subject, Fill fill) {
  for (const GridCell& cell : subject.grid.cells) {
    if (cell.runs.empty()) continue;
    std::vector<TableValue> row = point_values(subject.grid, cell);
    fill(cell, row);
    table.rows.push_back(std::move(row));
  }
}

std::string bandwidth_note(const Grid& grid) {
  const std::string bound =
      is_peak_known(grid)
          ? "It is to be held against the link's peak; the ring formula's bound is that factor x payload / "
            "peak."
          : "No peak of the link is known, so there is no share of it and no bound by the ring formula.";
  return fmt::format(
      "Of the collective that carried the gradient, rank 0, the whole run with its warm-up. Algorithm "
      "bandwidth "
      "is payload over time without peer wait; bus bandwidth is that times {}. {}",
      bus_factors_text(grid), bound);
}

// The parts of a run sum; medians over several runs need not.
std::string split_note(const Grid& grid) {
  const bool repeated = std::any_of(grid.cells.begin(), grid.cells.end(),
                                    [](const GridCell& cell) { return cell.runs.size() > 1; });
  return repeated
             ? "Means per step of rank 0, of each part the median over repeats. The parts of one run sum to "
               "its mean step; those medians need not."
             : "Means per step of rank 0; the parts sum to the mean step.";
}

std::optional<Number> percent_of(std::optional<Number> share) {
  return share ? std::optional(scaled(*share, 100)) : std::nullopt;
}

bool is_memory_known(const Grid& grid) {
  return std::any_of(grid.cells.begin(), grid.cells.end(), [](const GridCell& cell) {
    return cell.status() == "out_of_memory" || figure(cell, "peak_bytes").has_value();
  });
}

using MessageKey = std::tuple<std::string, std::string, std::string>;  // purpose, collective, link
struct MessageTotals {
  std::optional<double> payload, wire, messages, busy;  // nothing where no row knows it
  bool estimated = false;

  std::string wire_source() const { return !wire ? "" : estimated ? "estimated" : "counted"; }
};

template <class Figure>
void add(std::optional<double>& total, const std::optional<Figure>& more) {
  if (more) total = total.value_or(0) + static_cast<double>(*more);
}

std::map<MessageKey, MessageTotals> messages_of(const record::RunRecord& run) {
  std::map<MessageKey, MessageTotals> totals;
  for (const record::LedgerLine& line : run.ledger) {
    MessageTotals& total = totals[{line.purpose, line.collective, line.link}];
    add(total.payload, line.payload_bytes);
    add(total.wire, line.wire_bytes);
    add(total.messages, line.messages);
    if (line.rank == 0) add(total.busy, line.busy_seconds);
    total.estimated |= line.estimated.value_or(false);
  }
  return totals;
}

}  // namespace

Table split_table(const Subject& subject) {
  Table table = cell_table("split", "Where the time of a step went", subject.grid);
  table.note = split_note(subject.grid);
  table.one_unit = true;
  for (const Span& span : kSpans)
    table.columns.push_back({std::string(span.field) + "_seconds", span.words, "s"});
  for_each_measured(table, subject, [](const GridCell& cell, auto& row) {
    for (const Span& span : kSpans) row.push_back(value(span_seconds(cell, span)));
  });
  return table;
}

Table bytes_table(const Subject& subject) {
  Table table = cell_table("bytes", "Bytes by purpose", subject.grid);
  table.note =
      "Payload: the tensors that collectives were asked to move, counted once. Wire: what all ranks sent for "
      "them. Of the whole run.";
  for (const std::string_view purpose : kPurposes) {
    table.columns.push_back(
        {std::string(purpose) + "_payload_bytes", std::string(purpose) + " payload", "B", true});
    table.columns.push_back(
        {std::string(purpose) + "_wire_bytes", std::string(purpose) + " wire", "B", true});
  }
  table.columns.push_back({"estimated_purposes", "wire estimated for"});
  for_each_measured(table, subject, [](const GridCell& cell, auto& row) {
    std::string estimated;
    for (const std::string_view purpose : kPurposes) {
      row.push_back(value(payload_of(cell, purpose)));
      row.push_back(value(wire_of(cell, purpose)));
      if (wire_is_estimated(cell, purpose))
        estimated += (estimated.empty() ? "" : ", ") + std::string(purpose);
    }
    row.push_back(word(estimated));
  });
  return table;
}

Table messages_table(const Subject& subject) {
  Table table = cell_table("messages", "Every message", subject.grid);
  table.note = "Of one run of each cell, all ranks; busy time is rank 0's.";
  table.columns.insert(table.columns.end(), {{"purpose", "purpose"},
                                             {"collective", "collective"},
                                             {"link", "link"},
                                             {"messages", "messages", "", true},
                                             {"payload_bytes", "payload", "B", true},
                                             {"wire_bytes", "wire", "B", true},
                                             {"busy_seconds", "busy", "s"},
                                             {"wire_source", "wire bytes are"}});
  for (const GridCell& cell : subject.grid.cells) {
    if (cell.runs.empty()) continue;
    for (const auto& [key, total] : messages_of(cell.runs.front())) {
      std::vector<TableValue> row = point_values(subject.grid, cell);
      row.insert(row.end(), {word(std::get<0>(key)), word(std::get<1>(key)), word(std::get<2>(key)),
                             value(total.messages), value(total.payload), value(total.wire),
                             value(total.busy), word(total.wire_source())});
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table exposure_table(const Subject& subject) {
  Table table =
      cell_table("exposure", "Communication of a step: busy, exposed, hidden, peer wait", subject.grid);
  table.note =
      "Busy: a collective was in flight. Exposed: what the step waited for communication, packing and "
      "waiting "
      "to start included, so it may exceed busy. Hidden: busy less exposed, not below zero. Peer wait: the "
      "part of busy spent waiting for the last rank to arrive. These are rank 0's; the last columns name the "
      "rank that the others kept waiting the longest: peer wait or exposed, whichever is shorter.";
  table.columns.insert(table.columns.end(), {figure_column("busy_seconds", "busy"),
                                             figure_column("exposed_seconds", "exposed"),
                                             {"hidden_seconds", "hidden", "s"},
                                             figure_column("peer_wait_seconds", "peer wait"),
                                             {"hidden_percent", "hidden share", "%"},
                                             {"longest_wait_rank", "longest wait: rank", "", true},
                                             {"longest_wait_seconds", "its exposed peer wait", "s"}});
  for_each_measured(table, subject, [](const GridCell& cell, auto& row) {
    row.insert(row.end(), {value(figure(cell, "busy_seconds")), value(figure(cell, "exposed_seconds")),
                           value(hidden_seconds(cell)), value(figure(cell, "peer_wait_seconds")),
                           value(percent_of(figure(cell, "hidden_fraction")))});
    const auto longest = cell.workers > 1 ? longest_wait(cell) : std::nullopt;
    row.push_back(longest ? count(longest->rank) : TableValue{});
    row.push_back(longest ? value(std::optional(longest->wait)) : TableValue{});
  });
  return table;
}

Table bandwidth_table(const Subject& subject) {
  Table table = cell_table("bandwidth", "Bandwidth of the gradient's collective", subject.grid);
  table.note = bandwidth_note(subject.grid);
  table.columns.insert(table.columns.end(), {{"collective", "collective"},
                                             figure_column("algorithm_bandwidth", "algorithm"),
                                             figure_column("bus_bandwidth", "bus"),
                                             {"link_peak", "link's peak", "B/s"},
                                             {"utilization_percent", "share of peak", "%"},
                                             {"gradient_bytes_per_step", "payload a step", "B"},
                                             {"gradient_busy_seconds", "in flight, a step", "s"},
                                             {"transfer_seconds", "without peer wait, a step", "s"},
                                             {"ring_bound_seconds", "ring formula's bound, a step", "s"}});
  // localsgd sends weights and no gradients, one worker nothing: they have no row.
  for (const GridCell& cell : subject.grid.cells) {
    const auto collective = gradient_collective(cell);
    if (!collective) continue;
    const auto share = figure(cell, [](const record::RunRecord& run) { return run.comm.utilization; });
    std::vector<TableValue> row = point_values(subject.grid, cell);
    row.insert(row.end(),
               {word(std::string(measure::name_of(*collective))), value(figure(cell, "algorithm_bandwidth")),
                value(figure(cell, "bus_bandwidth")), value(link_peak(cell)), value(percent_of(share)),
                value(gradient_payload(cell)), value(gradient_busy_seconds(cell)),
                value(gradient_transfer_seconds(cell)), value(gradient_bound_seconds(cell))});
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table memory_table(const Subject& subject) {
  Table table = cell_table("memory", "Peak memory of the worst rank, by use", subject.grid);
  table.note =
      "At the instant of the peak; the uses sum to it. Needed: what a step would have taken, as the failure "
      "says, of a cell that ran out of memory.";
  table.columns.push_back({"status", "status"});
  table.columns.push_back(figure_column("peak_bytes", "peak"));
  table.columns.push_back({"needed_bytes", "needed", "B"});
  table.columns.push_back({"cap_bytes", "cap", "B"});
  for (const std::string_view use : kMemoryUses)
    table.columns.push_back({std::string(use) + "_bytes", std::string(use), "B"});
  if (!is_memory_known(subject.grid)) return table;
  for (const GridCell& cell : subject.grid.cells) {
    std::vector<TableValue> row = point_values(subject.grid, cell);
    const auto cap = memory_cap(cell);
    row.insert(row.end(), {word(cell.status()), value(figure(cell, "peak_bytes")), value(needed_bytes(cell)),
                           cap ? value(cap) : value(cap_of_failure(cell))});
    for (const std::string_view use : kMemoryUses) row.push_back(value(memory_use(cell, use)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace lockstep::report
