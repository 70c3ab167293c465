#include "lockstep/train/totals.h"

#include "lockstep/measure/bandwidth.h"

namespace lockstep::train {
namespace {

record::LedgerLine line_of(const measure::LedgerRow& row, int rank) {
  // A collective's payload is counted once, by rank 0; that of a message by its sender.
  const bool counts = rank == 0 ? row.collective != measure::Collective::receive
                                : row.collective == measure::Collective::send;
  record::LedgerLine line;
  line.rank = rank;
  line.purpose = name_of(row.purpose);
  line.collective = name_of(row.collective);
  line.link = row.link;
  if (counts) line.payload_bytes = row.payload_bytes;
  line.wire_bytes = row.wire_bytes;
  line.messages = row.messages;
  line.busy_seconds = base::to_seconds(row.busy);
  if (row.estimated) line.estimated = true;
  return line;
}

}  // namespace

record::LedgerEvent ledger_event(const measure::Ledger& ledger, int rank, int world) {
  record::LedgerEvent event;
  const std::vector<measure::LedgerRow> rows = ledger.rows();
  for (const measure::LedgerRow& row : rows) event.rows.push_back(line_of(row, rank));
  const auto bandwidth = measure::collective_bandwidth(rows, measure::Purpose::gradient, world);
  if (bandwidth) {
    event.algorithm_bandwidth = bandwidth->algorithm;
    event.bus_bandwidth = bandwidth->bus;
  }
  return event;
}

record::MemoryEvent memory_event(const measure::MemoryAccount& memory) {
  record::MemoryEvent event;
  event.peak_bytes = memory.peak_bytes();
  const measure::BytesByUse by_use = memory.by_use_at_peak();
  for (int use = 0; use < measure::kUseCount; ++use)
    event.by_use[std::string(name_of(static_cast<measure::Use>(use)))] =
        by_use[static_cast<std::size_t>(use)];
  event.cap_bytes = memory.cap_bytes();
  return event;
}

}  // namespace lockstep::train
