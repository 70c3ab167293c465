// Tables about where time, bytes and memory went.
#include <algorithm>
#include <map>

#include "lockstep/predict/ring_cost.h"
#include "lockstep/report/model/cell_figures.h"
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

// What the ring formula says the gradient's all-reduce must at least take at the link's measured peak.
std::optional<double> ring_bound(const GridCell& cell) {
  const auto bytes = gradient_bytes_per_step(cell), peak = link_peak(cell);
  if (!bytes || !peak || peak->value <= 0 || cell.workers < 2) return std::nullopt;
  return predict::least_all_reduce_seconds(bytes->value, cell.workers, peak->value);
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
  double payload = 0, wire = 0, messages = 0, busy = 0;
  bool estimated = false;
};

std::map<MessageKey, MessageTotals> messages_of(const record::RunRecord& run) {
  std::map<MessageKey, MessageTotals> totals;
  for (const record::LedgerLine& line : run.ledger) {
    MessageTotals& total = totals[{line.purpose, line.collective, line.link}];
    total.payload += static_cast<double>(line.payload_bytes.value_or(0));
    total.wire += static_cast<double>(line.wire_bytes.value_or(0));
    total.messages += static_cast<double>(line.messages.value_or(0));
    if (line.rank == 0) total.busy += line.busy_seconds.value_or(0);
    total.estimated |= line.estimated.value_or(false);
  }
  return totals;
}

}  // namespace

Table split_table(const Subject& subject) {
  Table table = cell_table("split", "Where the time of a step went", subject.grid);
  table.note = "Means per step of rank 0; the parts sum to the mean step.";
  for (const Span& span : kSpans) table.columns.push_back({span.field, span.words, "s"});
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
  table.columns.push_back({"estimated", "wire estimated for"});
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
                                             {"estimated", "wire"}});
  for (const GridCell& cell : subject.grid.cells) {
    if (cell.runs.empty()) continue;
    for (const auto& [key, total] : messages_of(cell.runs.front())) {
      std::vector<TableValue> row = point_values(subject.grid, cell);
      row.insert(row.end(), {word(std::get<0>(key)), word(std::get<1>(key)), word(std::get<2>(key)),
                             count(total.messages), count(total.payload), count(total.wire),
                             count(total.busy), word(total.estimated ? "estimated" : "counted")});
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
      "part of busy spent waiting for the last rank to arrive.";
  table.columns.insert(table.columns.end(), {figure_column("busy_seconds", "busy"),
                                             figure_column("exposed_seconds", "exposed"),
                                             {"hidden_seconds", "hidden", "s"},
                                             figure_column("peer_wait_seconds", "peer wait"),
                                             {"hidden_percent", "hidden share", "%"}});
  for_each_measured(table, subject, [](const GridCell& cell, auto& row) {
    row.insert(row.end(), {value(figure(cell, "busy_seconds")), value(figure(cell, "exposed_seconds")),
                           value(hidden_seconds(cell)), value(figure(cell, "peer_wait_seconds")),
                           value(percent_of(figure(cell, "hidden_fraction")))});
  });
  return table;
}

Table bandwidth_table(const Subject& subject) {
  Table table = cell_table("bandwidth", "Bandwidth of the gradient's collective", subject.grid);
  table.note =
      is_peak_known(subject.grid)
          ? "Algorithm bandwidth is payload over time; bus bandwidth is that times 2(N-1)/N, to be "
            "held against the link's peak. The ring formula's bound is 2(N-1)/N x payload / peak."
          : "Algorithm bandwidth is payload over time; bus bandwidth is that times 2(N-1)/N. No peak "
            "of the link is known, so there is no share of it and no bound by the ring formula.";
  table.columns.insert(table.columns.end(), {figure_column("algorithm_bandwidth", "algorithm"),
                                             figure_column("bus_bandwidth", "bus"),
                                             {"link_peak", "link's peak", "B/s"},
                                             {"utilization_percent", "share of peak", "%"},
                                             {"gradient_bytes_per_step", "gradient payload a step", "B"},
                                             {"transfer_seconds", "busy without peer wait, a step", "s"},
                                             {"ring_bound_seconds", "ring formula's bound, a step", "s"}});
  for_each_measured(table, subject, [](const GridCell& cell, auto& row) {
    const auto share = figure(cell, [](const record::RunRecord& run) { return run.comm.utilization; });
    row.insert(row.end(),
               {value(figure(cell, "algorithm_bandwidth")), value(figure(cell, "bus_bandwidth")),
                value(link_peak(cell)), value(percent_of(share)), value(gradient_bytes_per_step(cell)),
                cell.workers > 1 ? value(transfer_seconds(cell)) : TableValue{}, value(ring_bound(cell))});
  });
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
