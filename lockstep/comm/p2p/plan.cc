#include "lockstep/comm/p2p/plan.h"

#include <algorithm>

#include "lockstep/comm/p2p/arena_layout.h"

namespace lockstep::comm::p2p {
namespace {

// One pass of a block's 512 threads with 16 bytes each: a block more pays from here on. In phases a second
// block has a kernel in front of it, which takes longer than the first one's four passes.
constexpr std::uint64_t kBytesPerBlock = 8 << 10;
constexpr std::uint64_t kOneBlockInPhases = 32 << 10;
// What one-shot reads more than two-shot, (n-1)S - 2(n-1)/n S, costs as much as a second meeting of the ranks
// about here: roughly (n-2)S. In phases a meeting has launches in it, and all n ranks read at the same time
// from one GPU's memory. First choices, not the result of a sweep.
constexpr std::uint64_t kOneShotExcess = 1 << 20;
constexpr std::uint64_t kOneShotExcessInPhases = 64 << 20;  // of all ranks together

std::uint64_t divided_up(std::uint64_t a, std::uint64_t b) {
  return (a + b - 1) / b;
}

Algorithm all_reduce_algorithm(std::uint64_t bytes, int world, const Limits& limits) {
  const auto excess_ranks = static_cast<std::uint64_t>(std::max(0, world - 2));
  return bytes * excess_ranks <= limits.one_shot_excess ? Algorithm::one_shot : Algorithm::two_shot;
}

Algorithm algorithm_of(const Operation& operation, int world, const Limits& limits) {
  switch (operation.collective) {
    case Collective::all_reduce:
      return all_reduce_algorithm(operation.input.bytes, world, limits);
    case Collective::reduce:
      return Algorithm::reduce;
    case Collective::reduce_scatter:
      return Algorithm::reduce_scatter;
    case Collective::all_gather:
      return Algorithm::all_gather;
    case Collective::broadcast:
      return Algorithm::broadcast;
    case Collective::gather:
      return Algorithm::gather;
    case Collective::scatter:
      return Algorithm::scatter;
    case Collective::send:
    case Collective::receive:
      return Algorithm::message;
    case Collective::barrier:
      break;
  }
  return Algorithm::barrier;
}

// A block publishes pieces of all parts in one round: they share its region.
bool publishes_all_parts(Algorithm algorithm) {
  return algorithm == Algorithm::reduce_scatter || algorithm == Algorithm::scatter;
}

// Of the longest part: how far pieces must reach.
std::uint64_t longest_part(const Operation& operation, Algorithm algorithm, int world) {
  if (!has_parts(algorithm)) return payload_bytes(operation, world);
  std::uint64_t longest = 0;
  for (int rank = 0; rank < world; ++rank)
    longest = std::max<std::uint64_t>(longest, part_of(operation, rank, world).bytes);
  return longest;
}

std::uint64_t most_piece_bytes(Algorithm algorithm, int world, const Limits& limits) {
  if (algorithm == Algorithm::message) return kMailRegionBytes;
  if (!publishes_all_parts(algorithm)) return limits.region_bytes;
  return limits.region_bytes / static_cast<std::uint64_t>(world) / kPieceUnit * kPieceUnit;
}

std::uint64_t blocks_for(std::uint64_t bytes, const Limits& limits) {
  if (limits.in_phases && bytes <= kOneBlockInPhases) return 1;
  return divided_up(bytes, kBytesPerBlock);
}

// FNV-1a.
class Hash {
 public:
  void add(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) {
      state_ ^= (value >> shift) & 0xff;
      state_ *= 0x100000001b3u;
    }
  }
  std::uint32_t take() const { return static_cast<std::uint32_t>(state_ ^ (state_ >> 32)); }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

std::uint32_t signature_of(const Plan& plan, const Operation& operation, int world) {
  Hash hash;
  const bool rooted = plan.algorithm == Algorithm::reduce || plan.algorithm == Algorithm::broadcast ||
                      plan.algorithm == Algorithm::gather || plan.algorithm == Algorithm::scatter;
  hash.add(static_cast<std::uint64_t>(plan.algorithm));
  hash.add(plan.blocks);
  hash.add(plan.rounds);
  hash.add(plan.piece_bytes);
  hash.add(payload_bytes(operation, world));
  if (plan.algorithm != Algorithm::barrier) hash.add(static_cast<std::uint64_t>(operation.type()));
  if (reduces(plan.algorithm)) hash.add(static_cast<std::uint64_t>(operation.reduce_op));
  if (rooted) hash.add(static_cast<std::uint64_t>(operation.root));
  for (const std::size_t count : operation.counts) hash.add(count);
  return hash.take();
}

std::uint64_t share_bytes(std::uint64_t piece_bytes, int rank, int world) {
  const Share share = share_of(piece_bytes, static_cast<unsigned>(rank), static_cast<unsigned>(world));
  return share.end - share.begin;
}

// Of one piece: the peers' addends of its own share, and the peers' reduced shares.
std::uint64_t two_shot_bytes(std::uint64_t piece_bytes, int rank, int world) {
  const std::uint64_t own = share_bytes(piece_bytes, rank, world);
  return static_cast<std::uint64_t>(world - 1) * own + (piece_bytes - own);
}

std::uint64_t peers_with_parts(const Operation& operation, int rank, int world) {
  std::uint64_t peers = 0;
  for (int peer = 0; peer < world; ++peer)
    if (peer != rank && part_of(operation, peer, world).bytes > 0) ++peers;
  return peers;
}

}  // namespace

Limits limits_of_one_kernel(std::uint32_t blocks) {
  return {blocks, std::min<std::uint32_t>(blocks, kMailBlocks), false, kRegionBytes, kOneShotExcess};
}

Limits limits_in_phases(std::uint32_t blocks, int world) {
  return {blocks, std::min<std::uint32_t>(blocks, kPhaseMailBlocks), true, kPhaseRegionBytes,
          kOneShotExcessInPhases / static_cast<std::uint64_t>(world)};
}

bool needs_kernel(const Operation& operation, int world) {
  if (world == 1) return false;
  return operation.collective == Collective::barrier || payload_bytes(operation, world) > 0;
}

Plan plan_for(const Operation& operation, int world, const Limits& limits) {
  Plan plan;
  plan.algorithm = algorithm_of(operation, world, limits);
  const std::uint64_t reach = longest_part(operation, plan.algorithm, world);
  if (reach > 0) {
    const std::uint64_t most = plan.algorithm == Algorithm::message ? limits.mail_blocks : limits.blocks;
    const std::uint64_t wanted = blocks_for(payload_bytes(operation, world), limits);
    plan.blocks = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(wanted, 1, most));
    const std::uint64_t round_bytes = plan.blocks * most_piece_bytes(plan.algorithm, world, limits);
    plan.rounds = static_cast<std::uint32_t>(divided_up(reach, round_bytes));
    const std::uint64_t pieces = std::uint64_t{plan.rounds} * plan.blocks;
    plan.piece_bytes = divided_up(divided_up(reach, pieces), kPieceUnit) * kPieceUnit;
  }
  plan.signature = signature_of(plan, operation, world);
  return plan;
}

std::uint64_t wire_bytes(const Plan& plan, const Operation& operation, int rank, int world) {
  const std::uint64_t payload = payload_bytes(operation, world);
  const auto peers = static_cast<std::uint64_t>(world - 1);
  const bool is_root = operation.root == rank;
  switch (plan.algorithm) {
    case Algorithm::one_shot:
      return peers * payload;
    case Algorithm::two_shot:
      return payload / plan.piece_bytes * two_shot_bytes(plan.piece_bytes, rank, world) +
             two_shot_bytes(payload % plan.piece_bytes, rank, world);
    case Algorithm::reduce:
      return is_root ? peers * payload : 0;
    case Algorithm::reduce_scatter:
      return peers * part_of(operation, rank, world).bytes;
    case Algorithm::all_gather:
      return payload - part_of(operation, rank, world).bytes;
    case Algorithm::broadcast:
      return is_root ? 0 : payload;
    case Algorithm::gather:
      return is_root ? payload - part_of(operation, rank, world).bytes : 0;
    case Algorithm::scatter:
      return is_root ? 0 : part_of(operation, rank, world).bytes;
    case Algorithm::message:
      return operation.collective == Collective::receive ? payload : 0;
    case Algorithm::barrier:
      break;
  }
  return 0;
}

std::uint64_t messages(const Plan& plan, const Operation& operation, int rank, int world) {
  if (wire_bytes(plan, operation, rank, world) == 0) return 0;
  const auto peers = static_cast<std::uint64_t>(world - 1);
  switch (plan.algorithm) {
    case Algorithm::one_shot:
    case Algorithm::reduce:
    case Algorithm::reduce_scatter:
      return peers;
    case Algorithm::two_shot:
      return 2 * peers;
    case Algorithm::all_gather:
    case Algorithm::gather:
      return peers_with_parts(operation, rank, world);
    case Algorithm::broadcast:
    case Algorithm::scatter:
    case Algorithm::message:
      return 1;
    case Algorithm::barrier:
      break;
  }
  return 0;
}

}  // namespace lockstep::comm::p2p
