// The ledger: every message a rank took part in, summed by cause.
#pragma once

#include <array>
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

// What one operation cost one rank.
struct Movement {
  std::uint64_t wire_bytes = 0;    // sent; for shared memory, read from or written to another rank's memory
  std::uint64_t messages = 0;      // pieces handed to the link
  base::Nanoseconds busy{0};       // from its start on the queue to its end
  base::Nanoseconds peer_wait{0};  // the part of busy spent waiting for the last rank to arrive
  bool estimated = false;  // the library hides what it sends: wire bytes and messages come from a formula
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

// Sums movements by purpose, collective and link. Any thread may add; an add takes well under a microsecond.
class Ledger {
 public:
  void add(Purpose purpose, Collective collective, std::string_view link, std::uint64_t payload_bytes,
           const Movement& movement);

  // The rows that hold anything, in the order of link, purpose and collective.
  std::vector<LedgerRow> rows() const;
  void clear();

 private:
  struct Link {
    std::string name;
    std::array<LedgerRow, std::size_t{kPurposeCount} * kCollectiveCount> rows;
  };
  Link& link_named(std::string_view name);

  mutable std::mutex mutex_;
  std::vector<Link> links_;
};

}  // namespace lockstep::measure
