// How operations are cut into pieces, and what ranks read for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "lockstep/comm/p2p/arena_layout.h"
#include "lockstep/comm/p2p/phases.h"
#include "lockstep/comm/p2p/plan.h"

namespace lockstep::comm::p2p {
namespace {

const Limits kBlocks = limits_of_one_kernel(32);

Buffer bytes_of_f32(std::size_t bytes) {
  return {nullptr, bytes, ElementType::f32, Place::device};
}

Operation all_reduce_of(std::size_t bytes) {
  return all_reduce(bytes_of_f32(bytes), ReduceOp::sum, Purpose::gradient);
}

// Every byte of the longest part lies in exactly one piece: pieces follow each other without a gap.
void expect_reach(const Plan& plan, std::uint64_t longest, std::uint64_t most_piece_bytes) {
  EXPECT_GE(plan.piece_bytes * plan.blocks * plan.rounds, longest);
  EXPECT_LE(plan.piece_bytes, most_piece_bytes);
  EXPECT_EQ(plan.piece_bytes % kPieceUnit, 0u);
  EXPECT_GE(plan.blocks, 1u);
  EXPECT_LE(plan.blocks, kBlocks.blocks);
}

TEST(P2pPlan, ReachesEveryByteOfAnAllReduceWithPiecesThatFitIntoARegion) {
  for (const std::size_t bytes : {std::size_t{4}, std::size_t{4096}, std::size_t{8193 * 4},
                                  std::size_t{1} << 20, (std::size_t{256} << 20) + 4, std::size_t{3} << 30})
    for (const int world : {2, 3, 4, 8, 32})
      expect_reach(plan_for(all_reduce_of(bytes), world, kBlocks), bytes, kRegionBytes);
}

TEST(P2pPlan, LetsPiecesOfAllPartsShareARegion) {
  for (const int world : {2, 5, 32}) {
    const std::size_t part = 1000 * 1000;
    const Operation operation = reduce_scatter(bytes_of_f32(part * static_cast<std::size_t>(world)),
                                               bytes_of_f32(part), ReduceOp::sum, Purpose::gradient);
    const Plan plan = plan_for(operation, world, kBlocks);
    expect_reach(plan, part, kRegionBytes);
    EXPECT_LE(plan.piece_bytes * static_cast<std::uint64_t>(world), kRegionBytes);
  }
}

TEST(P2pPlan, ReachesTheLongestOfUnequalParts) {
  const Operation operation =
      all_gather(bytes_of_f32(40), bytes_of_f32(4000000 + 40), Purpose::parameter, {10, 1000000, 0});
  expect_reach(plan_for(operation, 3, kBlocks), 4000000, kRegionBytes);
}

TEST(P2pPlan, TakesFewBlocksForLittleAndNoMoreThanAllowed) {
  EXPECT_EQ(plan_for(all_reduce_of(4096), 2, kBlocks).blocks, 1u);
  EXPECT_EQ(plan_for(all_reduce_of(1 << 20), 2, kBlocks).blocks, kBlocks.blocks);
  EXPECT_EQ(plan_for(all_reduce_of(1 << 20), 2, {5, 5}).blocks, 5u);
  EXPECT_LE(plan_for(send(bytes_of_f32(1 << 20), 1, Purpose::gradient), 2, kBlocks).blocks,
            static_cast<std::uint32_t>(kMailBlocks));
}

TEST(P2pPlan, HasTwiceAsManyRegionsInPhases) {
  const Limits limits = limits_in_phases(kMostPhaseBlocks, 2);
  const Plan plan = plan_for(all_reduce_of(64 << 20), 2, limits);
  EXPECT_EQ(plan.blocks, static_cast<std::uint32_t>(kMostPhaseBlocks));
  EXPECT_EQ(plan.rounds, 1u);
  EXPECT_EQ(plan_for(send(bytes_of_f32(1 << 20), 1, Purpose::gradient), 2, limits).rounds, 1u);
  EXPECT_EQ(phase_region_offset(0), kHeaderBytes);
  EXPECT_EQ(phase_region_offset(kMostPhaseBlocks), phase_outbox_offset(0, 0));
  EXPECT_EQ(phase_outbox_offset(0, kPhaseMailBlocks), phase_outbox_offset(1, 0));
}

TEST(P2pPlan, MeetsLessOftenInPhases) {
  const Limits limits = limits_in_phases(kMostPhaseBlocks, 4);
  EXPECT_EQ(plan_for(all_reduce_of(32 << 10), 4, limits).blocks, 1u);
  EXPECT_EQ(plan_for(all_reduce_of(64 << 10), 4, limits).blocks, 8u);
  EXPECT_EQ(plan_for(all_reduce_of(8 << 20), 4, limits).algorithm, Algorithm::one_shot);
  EXPECT_EQ(plan_for(all_reduce_of(16 << 20), 4, limits).algorithm, Algorithm::two_shot);
}

TEST(P2pPlan, ReducesTwiceAsManyTimesOnlyWhereThatSavesBytes) {
  EXPECT_EQ(plan_for(all_reduce_of(64 << 20), 2, kBlocks).algorithm, Algorithm::one_shot);
  EXPECT_EQ(plan_for(all_reduce_of(64 << 10), 4, kBlocks).algorithm, Algorithm::one_shot);
  EXPECT_EQ(plan_for(all_reduce_of(64 << 20), 4, kBlocks).algorithm, Algorithm::two_shot);
}

TEST(P2pPlan, SharesCoverAPieceWithoutOverlap) {
  for (const std::uint64_t bytes : {0u, 2u, 16u, 100u, 262144u, 262140u})
    for (const unsigned world : {2u, 3u, 7u, 32u}) {
      std::uint64_t end = 0;
      for (unsigned rank = 0; rank < world; ++rank) {
        const Share share = share_of(bytes, rank, world);
        EXPECT_EQ(share.begin, end);
        EXPECT_TRUE(share.begin % 16 == 0 || share.begin == bytes);
        end = share.end;
      }
      EXPECT_EQ(end, bytes);
    }
}

// The sum over pieces, taken one by one, is what the closed form says.
TEST(P2pPlan, CountsTheBytesOfATwoShotAllReduceExactly) {
  const std::uint64_t bytes = (std::uint64_t{37} << 20) + 12;
  for (const int world : {3, 4, 8})
    for (int rank = 0; rank < world; ++rank) {
      const Operation operation = all_reduce_of(bytes);
      const Plan plan = plan_for(operation, world, kBlocks);
      ASSERT_EQ(plan.algorithm, Algorithm::two_shot);
      std::uint64_t read = 0;
      for (std::uint64_t begin = 0; begin < bytes; begin += plan.piece_bytes) {
        const std::uint64_t piece = std::min(plan.piece_bytes, bytes - begin);
        const Share own = share_of(piece, static_cast<unsigned>(rank), static_cast<unsigned>(world));
        read += static_cast<std::uint64_t>(world - 1) * (own.end - own.begin) + piece - (own.end - own.begin);
      }
      EXPECT_EQ(wire_bytes(plan, operation, rank, world), read);
      EXPECT_EQ(messages(plan, operation, rank, world), 2u * static_cast<unsigned>(world - 1));
    }
}

TEST(P2pPlan, CountsWhatEachRankReads) {
  const auto wire = [](const Operation& operation, int rank, int world) {
    return wire_bytes(plan_for(operation, world, kBlocks), operation, rank, world);
  };
  const Buffer whole = bytes_of_f32(400), part = bytes_of_f32(100);
  EXPECT_EQ(wire(all_reduce_of(400), 1, 4), 1200u);
  EXPECT_EQ(wire(reduce(whole, whole, ReduceOp::sum, 2, Purpose::gradient), 2, 4), 1200u);
  EXPECT_EQ(wire(reduce(whole, {}, ReduceOp::sum, 2, Purpose::gradient), 1, 4), 0u);
  EXPECT_EQ(wire(reduce_scatter(whole, part, ReduceOp::sum, Purpose::gradient), 0, 4), 300u);
  EXPECT_EQ(wire(all_gather(part, whole, Purpose::parameter), 0, 4), 300u);
  EXPECT_EQ(wire(broadcast(whole, 1, Purpose::parameter), 1, 4), 0u);
  EXPECT_EQ(wire(broadcast(whole, 1, Purpose::parameter), 0, 4), 400u);
  EXPECT_EQ(wire(gather(part, whole, 3, Purpose::metric), 3, 4), 300u);
  EXPECT_EQ(wire(scatter({}, part, 3, Purpose::input), 0, 4), 100u);
  EXPECT_EQ(wire(send(whole, 1, Purpose::gradient), 0, 4), 0u);
  EXPECT_EQ(wire(receive(whole, 0, Purpose::gradient), 1, 4), 400u);
  EXPECT_EQ(wire(barrier(), 1, 4), 0u);
}

TEST(P2pPlan, CountsOneMessageForEachPeerThatHasSomething) {
  const Operation operation = all_gather(bytes_of_f32(40), bytes_of_f32(80), Purpose::parameter, {10, 0, 10});
  EXPECT_EQ(messages(plan_for(operation, 3, kBlocks), operation, 0, 3), 1u);
}

TEST(P2pPlan, GivesSenderAndReceiverTheSameCutAndSignature) {
  const Plan sends = plan_for(send(bytes_of_f32(1 << 22), 1, Purpose::gradient), 4, kBlocks);
  const Plan receives = plan_for(receive(bytes_of_f32(1 << 22), 0, Purpose::gradient), 4, kBlocks);
  EXPECT_EQ(sends.signature, receives.signature);
  EXPECT_EQ(sends.piece_bytes, receives.piece_bytes);
  EXPECT_EQ(sends.rounds, receives.rounds);
}

TEST(P2pPlan, GivesOperationsThatDifferOtherSignatures) {
  const std::uint32_t own = plan_for(all_reduce_of(400), 2, kBlocks).signature;
  Operation other = all_reduce_of(400);
  other.reduce_op = ReduceOp::max;
  EXPECT_NE(plan_for(other, 2, kBlocks).signature, own);
  EXPECT_NE(plan_for(all_reduce_of(404), 2, kBlocks).signature, own);
  EXPECT_NE(plan_for(broadcast(bytes_of_f32(400), 0, Purpose::parameter), 2, kBlocks).signature, own);
  EXPECT_NE(plan_for(barrier(), 2, kBlocks).signature, own);
  EXPECT_NE(plan_for(broadcast(bytes_of_f32(400), 1, Purpose::parameter), 2, kBlocks).signature,
            plan_for(broadcast(bytes_of_f32(400), 0, Purpose::parameter), 2, kBlocks).signature);
}

// Ranks have different buffers, and must come to the same plan.
TEST(P2pPlan, IsTheSameOnTheRootAndTheOthers) {
  const Buffer whole = bytes_of_f32(4 << 20), part = bytes_of_f32(1 << 20);
  const Plan root = plan_for(scatter(whole, part, 0, Purpose::input), 4, kBlocks);
  const Plan other = plan_for(scatter({}, part, 0, Purpose::input), 4, kBlocks);
  EXPECT_EQ(root.signature, other.signature);
  EXPECT_EQ(plan_for(gather(part, whole, 0, Purpose::metric), 4, kBlocks).signature,
            plan_for(gather(part, {}, 0, Purpose::metric), 4, kBlocks).signature);
  EXPECT_EQ(plan_for(reduce(whole, whole, ReduceOp::sum, 0, Purpose::metric), 4, kBlocks).signature,
            plan_for(reduce(whole, {}, ReduceOp::sum, 0, Purpose::metric), 4, kBlocks).signature);
}

TEST(P2pPlan, NeedsNoKernelWhereNothingMoves) {
  EXPECT_FALSE(needs_kernel(all_reduce_of(0), 4));
  EXPECT_FALSE(needs_kernel(all_reduce_of(400), 1));
  EXPECT_TRUE(needs_kernel(all_reduce_of(4), 2));
  EXPECT_TRUE(needs_kernel(barrier(), 2));
}

// What phases.h relies on: each phase waits for what the one before it signals, round after round, operation
// after operation, and none signals what the one before it did.
TEST(P2pPhases, FollowEachOtherInOneCircle) {
  for (const Algorithm algorithm : {Algorithm::one_shot, Algorithm::two_shot, Algorithm::reduce,
                                    Algorithm::scatter, Algorithm::all_gather, Algorithm::barrier}) {
    Meeting signalled = Meeting::read;
    for (const std::uint32_t rounds : {1u, 3u, 2u}) {
      const std::vector<Phase> phases = phases_of(algorithm, false, rounds);
      EXPECT_TRUE(phases.front().first);
      EXPECT_TRUE(phases.back().last);
      for (const Phase& phase : phases) {
        EXPECT_EQ(phase.waits, signalled);
        EXPECT_NE(phase.signals, phase.waits);
        signalled = phase.signals;
      }
      EXPECT_EQ(signalled, Meeting::read);
    }
  }
}

TEST(P2pPhases, LetMessagesGoToAndFro) {
  for (const Phase& phase : phases_of(Algorithm::message, true, 3)) {
    EXPECT_EQ(phase.waits, Meeting::taken);
    EXPECT_EQ(phase.signals, Meeting::mailed);
  }
  const std::vector<Phase> receives = phases_of(Algorithm::message, false, 3);
  ASSERT_EQ(receives.size(), 4u);
  EXPECT_EQ(receives[0].step, Step::note);
  EXPECT_EQ(receives[0].waits, Meeting::none);
  EXPECT_EQ(receives[3].waits, Meeting::mailed);
  EXPECT_EQ(receives[3].signals, Meeting::taken);
}

TEST(P2pArena, HoldsItsPartsWithoutOverlapAtAlignedPlaces) {
  EXPECT_EQ(region_offset(0, 0), kHeaderBytes);
  EXPECT_EQ(region_offset(0, kMostBlocks), region_offset(1, 0));
  EXPECT_EQ(region_offset(2, 0), outbox_offset(0, 0, 0));
  EXPECT_EQ(outbox_offset(0, 1, kMailBlocks), outbox_offset(1, 0, 0));
  for (const int world : {2, 4, 32}) {
    EXPECT_GE(arena_bytes(world, false), outbox_offset(static_cast<unsigned>(world), 0, 0));
    EXPECT_GE(arena_bytes(world, true), phase_outbox_offset(static_cast<unsigned>(world), 0));
    EXPECT_EQ(arena_bytes(world, true) % (std::size_t{2} << 20), 0u);
  }
  EXPECT_EQ(region_offset(1, 7) % 128, 0u);
}

}  // namespace
}  // namespace lockstep::comm::p2p
