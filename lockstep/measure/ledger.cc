#include "lockstep/measure/ledger.h"

#include <stdexcept>

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

void Ledger::add(const OperationFacts& facts, const Movement& movement) {
  MovementListener* const listener = listener_.load(std::memory_order_acquire);
  // First the clock: the listener is to hear when the operation ended, not when the lock was free.
  const base::TimePoint end = listener != nullptr ? base::now() : base::TimePoint{};
  sum(facts, movement);
  if (listener != nullptr) listener->on_movement(facts, movement, end);
}

void Ledger::sum(const OperationFacts& facts, const Movement& movement) {
  const std::lock_guard lock(mutex_);
  LedgerRow& row = link_named(facts.link).rows[index_of(facts.purpose, facts.collective)];
  row.operations += 1;
  row.payload_bytes += facts.payload_bytes;
  row.wire_bytes += movement.wire_bytes;
  row.messages += movement.messages;
  row.busy += movement.busy;
  row.peer_wait += movement.peer_wait;
  row.estimated |= movement.estimated;
  totals_.busy += movement.busy;
  totals_.peer_wait += movement.peer_wait;
  totals_.busy_by_purpose[static_cast<std::size_t>(facts.purpose)] += movement.busy;
  totals_.peer_wait_by_purpose[static_cast<std::size_t>(facts.purpose)] += movement.peer_wait;
  totals_.unknown_peer_waits += movement.peer_wait_known ? 0 : 1;
}

std::vector<LedgerRow> Ledger::rows() const {
  const std::lock_guard lock(mutex_);
  std::vector<LedgerRow> filled;
  for (const Link& link : links_)
    for (const LedgerRow& row : link.rows)
      if (row.operations > 0) filled.push_back(row);
  return filled;
}

LedgerTotals Ledger::totals() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

void Ledger::clear() {
  const std::lock_guard lock(mutex_);
  links_.clear();
  totals_ = {};
}

void Ledger::listen(MovementListener& listener) {
  MovementListener* nobody = nullptr;
  if (!listener_.compare_exchange_strong(nobody, &listener, std::memory_order_acq_rel))
    throw std::logic_error("the ledger has a listener already");
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
