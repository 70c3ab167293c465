// What collectives cost by the alpha-beta model: alpha seconds a message, B bytes per second on a link, gamma
// seconds a reduced byte. docs/formulas.md derives the bytes; these are the times.
#pragma once

#include "lockstep/measure/collective.h"

namespace lockstep::predict {

struct LinkCost {
  double message_seconds = 0;          // alpha
  double bytes_per_second = 0;         // B; must be above 0
  double reduce_seconds_per_byte = 0;  // gamma
};

// By a ring of `ranks`: all-reduce 2(n-1) alpha + 2(n-1)/n S/B + (n-1)/n S gamma; reduce-scatter and
// all-gather half the messages and bytes (only the first reduces). The rooted ones send S along a chain that
// is cut finely enough to hide its length: (n-1) alpha + S/B. One rank costs nothing.
double ring_seconds(measure::Collective collective, double payload_bytes, int ranks, const LinkCost& link);

// All-reduce by recursive doubling, ceil(log2 n)(alpha + S/B + S gamma), and by halving and doubling,
// 2 log2 n alpha + 2(n-1)/n S/B + (n-1)/n S gamma.
double recursive_doubling_seconds(double payload_bytes, int ranks, const LinkCost& link);
double halving_doubling_seconds(double payload_bytes, int ranks, const LinkCost& link);

// What no all-reduce can take less than: 2(n-1)/n S/B.
double least_all_reduce_seconds(double payload_bytes, int ranks, double bytes_per_second);

}  // namespace lockstep::predict
