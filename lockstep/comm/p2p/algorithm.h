// The ways in which the kernels do operations, and how a two-shot all-reduce is shared out. For host code and
// kernels (which are C++17).
#pragma once

#include <cstdint>

namespace lockstep::comm::p2p {

// Those that reduce come first.
enum class Algorithm : std::uint32_t {
  one_shot,  // all-reduce: every rank reads everything of all peers and reduces it
  two_shot,  // all-reduce: every rank reduces its share of each piece, then reads the peers' shares
  reduce,
  reduce_scatter,
  all_gather,
  broadcast,
  gather,
  scatter,
  barrier,
  message,  // send and receive
};
constexpr bool reduces(Algorithm algorithm) {
  return algorithm <= Algorithm::reduce_scatter;
}
// Whether a part of the tensor belongs to each rank; else the kernels see one part, the whole.
constexpr bool has_parts(Algorithm algorithm) {
  return algorithm == Algorithm::reduce_scatter || algorithm == Algorithm::all_gather ||
         algorithm == Algorithm::gather || algorithm == Algorithm::scatter;
}

// The share of a piece that one rank reduces in a two-shot all-reduce. Shares begin at multiples of 16 bytes.
struct Share {
  std::uint64_t begin;
  std::uint64_t end;
};
constexpr Share share_of(std::uint64_t piece_bytes, unsigned rank, unsigned world) {
  constexpr std::uint64_t kVector = 16;
  const std::uint64_t bytes = (piece_bytes + world * kVector - 1) / (world * kVector) * kVector;
  const std::uint64_t begin = bytes * rank < piece_bytes ? bytes * rank : piece_bytes;
  const std::uint64_t end = bytes * (rank + 1) < piece_bytes ? bytes * (rank + 1) : piece_bytes;
  return {begin, end};
}

}  // namespace lockstep::comm::p2p
