#include "lockstep/measure/ledger.h"

namespace lockstep::measure {
namespace {

constexpr std::array<std::string_view, kPurposeCount> kPurposeNames = {
    "input", "output", "gradient", "parameter", "buffer", "statistics", "metric", "control"};

std::size_t index_of(Purpose purpose, Collective collective) {
  return static_cast<std::size_t>(purpose) * kCollectiveCount + static_cast<std::size_t>(collective);
}

}  // namespace

std::string_view name_of(Purpose purpose) {
  return kPurposeNames[static_cast<std::size_t>(purpose)];
}

void Ledger::add(Purpose purpose, Collective collective, std::string_view link, std::uint64_t payload_bytes,
                 const Movement& movement) {
  const std::lock_guard lock(mutex_);
  LedgerRow& row = link_named(link).rows[index_of(purpose, collective)];
  row.operations += 1;
  row.payload_bytes += payload_bytes;
  row.wire_bytes += movement.wire_bytes;
  row.messages += movement.messages;
  row.busy += movement.busy;
  row.peer_wait += movement.peer_wait;
  row.estimated |= movement.estimated;
}

std::vector<LedgerRow> Ledger::rows() const {
  const std::lock_guard lock(mutex_);
  std::vector<LedgerRow> filled;
  for (const Link& link : links_)
    for (const LedgerRow& row : link.rows)
      if (row.operations > 0) filled.push_back(row);
  return filled;
}

void Ledger::clear() {
  const std::lock_guard lock(mutex_);
  links_.clear();
}

Ledger::Link& Ledger::link_named(std::string_view name) {
  for (Link& link : links_)
    if (link.name == name) return link;
  Link& link = links_.emplace_back();
  link.name = name;
  for (int purpose = 0; purpose < kPurposeCount; ++purpose)
    for (int collective = 0; collective < kCollectiveCount; ++collective) {
      const auto p = static_cast<Purpose>(purpose);
      const auto c = static_cast<Collective>(collective);
      LedgerRow& row = link.rows[index_of(p, c)];
      row.purpose = p;
      row.collective = c;
      row.link = link.name;
    }
  return link;
}

}  // namespace lockstep::measure
