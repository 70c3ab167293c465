#include "lockstep/measure/bandwidth.h"

#include <algorithm>
#include <array>

namespace lockstep::measure {
namespace {

struct Sum {
  std::uint64_t payload_bytes = 0;
  base::Nanoseconds moving{0};  // busy without peer wait
};
using SumByCollective = std::array<Sum, kCollectiveCount>;

SumByCollective sums_for(std::span<const LedgerRow> rows, Purpose purpose) {
  SumByCollective sums;
  for (const LedgerRow& row : rows) {
    if (row.purpose != purpose) continue;
    Sum& sum = sums[static_cast<std::size_t>(row.collective)];
    sum.payload_bytes += row.payload_bytes;
    sum.moving += row.busy - std::min(row.busy, row.peer_wait);
  }
  return sums;
}

}  // namespace

std::optional<CollectiveBandwidth> collective_bandwidth(std::span<const LedgerRow> rows, Purpose purpose,
                                                        int ranks) {
  const SumByCollective sums = sums_for(rows, purpose);
  const auto most = std::max_element(sums.begin(), sums.end(), [](const Sum& one, const Sum& other) {
    return one.payload_bytes < other.payload_bytes;
  });
  if (most->payload_bytes == 0 || most->moving <= base::Nanoseconds(0)) return std::nullopt;
  const auto collective = static_cast<Collective>(most - sums.begin());
  const double algorithm = static_cast<double>(most->payload_bytes) / base::to_seconds(most->moving);
  return CollectiveBandwidth{collective, algorithm, algorithm * bus_factor(collective, ranks)};
}

}  // namespace lockstep::measure
