// How fast a run's collectives went, from the ledger of one rank; docs/formulas.md derives it.
#pragma once

#include <optional>
#include <span>

#include "lockstep/measure/ledger.h"

namespace lockstep::measure {

struct CollectiveBandwidth {
  Collective collective = Collective::all_reduce;
  double algorithm = 0;  // bytes per second: payload / (busy - peer wait)
  double bus = 0;        // bytes per second: algorithm x bus_factor(collective, ranks)
};

// Of the collective that moved the most payload for `purpose`, over all links. Nothing when none moved any,
// or when no time is known that was not peer wait.
std::optional<CollectiveBandwidth> collective_bandwidth(std::span<const LedgerRow> rows, Purpose purpose,
                                                        int ranks);

}  // namespace lockstep::measure
