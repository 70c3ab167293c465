#include "lockstep/predict/ring_cost.h"

#include <cmath>

namespace lockstep::predict {
namespace {

using measure::Collective;

// (n-1)/n: the share of the tensor that is not a rank's own.
double foreign_share(int ranks) {
  return static_cast<double>(ranks - 1) / ranks;
}

// How often a ring goes round for it, and whether it reduces.
struct Rounds {
  int count;
  bool reduces;
};

Rounds rounds_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return {2, true};
    case Collective::reduce_scatter:
      return {1, true};
    default:
      return {1, false};
  }
}

bool splits_the_tensor(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::reduce_scatter ||
         collective == Collective::all_gather || collective == Collective::gather ||
         collective == Collective::scatter;
}

double along_a_chain(Collective collective, double payload_bytes, int ranks, const LinkCost& link) {
  const double bytes = collective == Collective::barrier ? 0 : payload_bytes;
  const double reduced = collective == Collective::reduce ? payload_bytes : 0;
  return (ranks - 1) * link.message_seconds + bytes / link.bytes_per_second +
         reduced * link.reduce_seconds_per_byte;
}

}  // namespace

double ring_seconds(Collective collective, double payload_bytes, int ranks, const LinkCost& link) {
  if (ranks < 2) return 0;
  if (!splits_the_tensor(collective)) return along_a_chain(collective, payload_bytes, ranks, link);
  const Rounds rounds = rounds_of(collective);
  const double moved = foreign_share(ranks) * payload_bytes;
  return rounds.count * ((ranks - 1) * link.message_seconds + moved / link.bytes_per_second) +
         (rounds.reduces ? moved * link.reduce_seconds_per_byte : 0);
}

double recursive_doubling_seconds(double payload_bytes, int ranks, const LinkCost& link) {
  if (ranks < 2) return 0;
  return std::ceil(std::log2(ranks)) * (link.message_seconds + payload_bytes / link.bytes_per_second +
                                        payload_bytes * link.reduce_seconds_per_byte);
}

double halving_doubling_seconds(double payload_bytes, int ranks, const LinkCost& link) {
  if (ranks < 2) return 0;
  const double moved = foreign_share(ranks) * payload_bytes;
  return 2 * std::log2(ranks) * link.message_seconds + 2 * moved / link.bytes_per_second +
         moved * link.reduce_seconds_per_byte;
}

double least_all_reduce_seconds(double payload_bytes, int ranks, double bytes_per_second) {
  return ranks < 2 ? 0 : 2 * foreign_share(ranks) * payload_bytes / bytes_per_second;
}

}  // namespace lockstep::predict
