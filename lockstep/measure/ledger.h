// The ledger: every message a rank took part in, summed by cause.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/measure/collective.h"

namespace lockstep::measure {

// Why bytes moved.
enum class Purpose { input, output, gradient, parameter, buffer, statistics, metric, control };
inline constexpr int kPurposeCount = 8;
std::string_view name_of(Purpose purpose);

// What an operation was asked to do.
struct OperationFacts {
  Purpose purpose = Purpose::control;
  Collective collective = Collective::barrier;
  std::string_view link{};          // what carries the bytes
  std::uint64_t payload_bytes = 0;  // as collective.h defines it
  // From here on for listeners only; the sums don't need it.
  std::string_view element_type{};  // "f32"
  std::uint64_t input_elements = 0;
  std::uint64_t output_elements = 0;
  int ranks = 0;    // that take part
  int channel = 0;  // which communicator of this rank; operations of one follow each other
};

// What one operation cost one rank.
struct Movement {
  std::uint64_t wire_bytes = 0;    // sent; for shared memory, read from or written to another rank's memory
  std::uint64_t messages = 0;      // pieces handed to the link
  base::Nanoseconds busy{0};       // from its start on the queue to its end
  base::Nanoseconds peer_wait{0};  // the part of busy spent waiting for the last rank to arrive
  bool estimated = false;  // the library hides what it sends: wire bytes and messages come from a formula
  bool peer_wait_known = true;  // false where nobody can tell when the last rank arrived
};

// One line of the record: totals of one rank.
struct LedgerRow {
  Purpose purpose;
  Collective collective;
  std::string link;
  std::uint64_t operations = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t wire_bytes = 0;
  std::uint64_t messages = 0;
  base::Nanoseconds busy{0};
  base::Nanoseconds peer_wait{0};
  bool estimated = false;
};

// The sums over everything, for figures per step: what a step cost is the difference of two.
struct LedgerTotals {
  base::Nanoseconds busy{0};
  base::Nanoseconds peer_wait{0};
  std::array<base::Nanoseconds, kPurposeCount> busy_by_purpose{};
  std::array<base::Nanoseconds, kPurposeCount> peer_wait_by_purpose{};
  std::uint64_t unknown_peer_waits = 0;  // operations
};

// Told about every operation when it has ended, on the thread that found out; must be quick. `end` is when it
// was found out, which on a GPU is a little after the fact.
class MovementListener {
 public:
  virtual ~MovementListener() = default;
  virtual void on_movement(const OperationFacts& facts, const Movement& movement, base::TimePoint end) = 0;
};

// Sums movements by purpose, collective and link. Any thread may add; an add takes well under a microsecond.
class Ledger {
 public:
  void add(const OperationFacts& facts, const Movement& movement);
  void add(Purpose purpose, Collective collective, std::string_view link, std::uint64_t payload_bytes,
           const Movement& movement) {
    add({.purpose = purpose, .collective = collective, .link = link, .payload_bytes = payload_bytes},
        movement);
  }

  // The rows that hold anything, in the order of link, purpose and collective.
  std::vector<LedgerRow> rows() const;
  // Costs no more than an add.
  LedgerTotals totals() const;
  void clear();

  // Tells `listener` about everything added from now on. At most once; the listener outlives the last add.
  void listen(MovementListener& listener);
  // A number for a communicator that will add: 0, 1, ... in the order of asking, the same on every rank where
  // all open the same communicators.
  int new_channel() { return channels_.fetch_add(1, std::memory_order_relaxed); }

 private:
  struct Link {
    std::string name;
    std::array<LedgerRow, std::size_t{kPurposeCount} * kCollectiveCount> rows;
  };
  Link& link_named(std::string_view name);
  void sum(const OperationFacts& facts, const Movement& movement);

  mutable std::mutex mutex_;
  std::vector<Link> links_;
  LedgerTotals totals_;
  std::atomic<MovementListener*> listener_{nullptr};
  std::atomic<int> channels_{0};
};

}  // namespace lockstep::measure
