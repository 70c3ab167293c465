// The collectives there are, and what each must move: the formulas that tables, tests and projections share.
//
// S is the payload: the size in bytes of the tensor the collective was asked to move, counted once, not per
// rank.
//   all-reduce, reduce, broadcast      the tensor each rank holds
//   reduce-scatter                     the whole tensor each rank puts in
//   all-gather, gather, scatter        the whole tensor: all parts together
//   send/receive                       the message
// docs/formulas.md derives them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep::measure {

enum class Collective {
  all_reduce,
  reduce,
  reduce_scatter,
  all_gather,
  broadcast,
  gather,
  scatter,
  send,
  receive,
  barrier
};
inline constexpr int kCollectiveCount = 10;

std::string_view name_of(Collective collective);                    // "all_reduce"
std::optional<Collective> collective_named(std::string_view name);  // also "allreduce", "all-reduce"

// What multiplies S/t to give bus bandwidth: the share of S that the busiest link of an optimal algorithm
// carries. 2(n-1)/n for all-reduce, (n-1)/n for reduce-scatter, all-gather, gather and scatter, 1 for
// broadcast, reduce and send/receive, 0 for a barrier.
double bus_factor(Collective collective, int ranks);

// Wire bytes that one rank moves for a payload of S bytes by the algorithms the literature calls optimal in
// bandwidth (a ring, or its equal): 2(n-1)/n S for all-reduce, (n-1)/n S for reduce-scatter and all-gather;
// for the rooted ones the part that is this rank's (a broadcast is the root's alone), rounded up. Used for
// libraries that hide their algorithm, and marked `estimated` there.
std::uint64_t estimated_wire_bytes(Collective collective, std::uint64_t payload_bytes, int ranks,
                                   bool is_root);

}  // namespace lockstep::measure
