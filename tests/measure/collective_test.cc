// Tests of the formulas of docs/formulas.md: what every collective must move.
#include "lockstep/measure/collective.h"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep::measure {
namespace {

std::vector<Collective> all_collectives() {
  std::vector<Collective> all;
  for (int i = 0; i < kCollectiveCount; ++i) all.push_back(static_cast<Collective>(i));
  return all;
}

// What all ranks together send, root 0.
std::uint64_t wire_bytes_of_all(Collective collective, std::uint64_t payload_bytes, int ranks) {
  std::uint64_t sum = 0;
  for (int rank = 0; rank < ranks; ++rank)
    sum += estimated_wire_bytes(collective, payload_bytes, ranks, rank == 0);
  return sum;
}

TEST(Collective, EveryNameIsFoundAgain) {
  for (const Collective collective : all_collectives())
    EXPECT_EQ(collective_named(name_of(collective)), collective);
}

TEST(Collective, NamesAreFoundInAllSpellings) {
  for (const char* name : {"all_reduce", "all-reduce", "allreduce"})
    EXPECT_EQ(collective_named(name), Collective::all_reduce) << name;
  EXPECT_EQ(collective_named("reducescatter"), Collective::reduce_scatter);
}

TEST(Collective, AnUnknownNameIsNothing) {
  EXPECT_EQ(collective_named("alltoall"), std::nullopt);
  EXPECT_EQ(collective_named(""), std::nullopt);
}

TEST(BusFactor, IsThatOfTheDerivation) {
  EXPECT_DOUBLE_EQ(bus_factor(Collective::all_reduce, 2), 1.0);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::all_reduce, 4), 1.5);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::reduce_scatter, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::all_gather, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::broadcast, 8), 1.0);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::send, 2), 1.0);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::barrier, 8), 0.0);
}

TEST(BusFactor, OfCollectivesThatSplitTheTensorIsZeroForOneRank) {
  for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter,
                                      Collective::all_gather, Collective::gather, Collective::scatter})
    EXPECT_DOUBLE_EQ(bus_factor(collective, 1), 0.0) << name_of(collective);
}

TEST(WireBytes, OneRankSendsNothing) {
  for (const Collective collective : all_collectives())
    EXPECT_EQ(estimated_wire_bytes(collective, 4096, 1, true), 0u) << name_of(collective);
}

TEST(WireBytes, OfARankInAnAllReduceAreTwiceThoseOfAReduceScatter) {
  for (const int ranks : {2, 3, 4, 8})
    EXPECT_EQ(estimated_wire_bytes(Collective::all_reduce, 4800, ranks, false),
              2 * estimated_wire_bytes(Collective::reduce_scatter, 4800, ranks, false));
}

TEST(WireBytes, OfAllRanksAreWhatTheCollectiveMustMove) {
  constexpr std::uint64_t kPayload = 4800;  // divisible by 2, 3, 4 and 8
  for (const std::uint64_t n : {2, 3, 4, 8}) {
    const int ranks = static_cast<int>(n);
    EXPECT_EQ(wire_bytes_of_all(Collective::all_reduce, kPayload, ranks), 2 * (n - 1) * kPayload);
    EXPECT_EQ(wire_bytes_of_all(Collective::all_gather, kPayload, ranks), (n - 1) * kPayload);
    EXPECT_EQ(wire_bytes_of_all(Collective::gather, kPayload, ranks), kPayload - kPayload / n);
    EXPECT_EQ(wire_bytes_of_all(Collective::scatter, kPayload, ranks), kPayload - kPayload / n);
    EXPECT_EQ(wire_bytes_of_all(Collective::reduce, kPayload, ranks), (n - 1) * kPayload);
    EXPECT_EQ(wire_bytes_of_all(Collective::broadcast, kPayload, ranks), (n - 1) * kPayload);
  }
}

TEST(WireBytes, AreNeverLessThanTheBoundWhereATensorCannotBeDividedEvenly) {
  for (const std::uint64_t payload : {1, 4, 20, 4097})
    for (const std::uint64_t n : {3, 5, 7}) {
      const int ranks = static_cast<int>(n);
      const std::uint64_t all_reduced = wire_bytes_of_all(Collective::all_reduce, payload, ranks);
      EXPECT_GE(all_reduced, 2 * (n - 1) * payload);
      EXPECT_LT(all_reduced, 2 * (n - 1) * payload + n);  // less than a byte more for each rank
      EXPECT_GE(wire_bytes_of_all(Collective::all_gather, payload, ranks), (n - 1) * payload);
      EXPECT_GE(wire_bytes_of_all(Collective::scatter, payload, ranks) * n, (n - 1) * payload);
    }
}

TEST(WireBytes, OnlyTheSenderSends) {
  EXPECT_EQ(estimated_wire_bytes(Collective::send, 100, 2, false), 100u);
  EXPECT_EQ(estimated_wire_bytes(Collective::receive, 100, 2, false), 0u);
  EXPECT_EQ(estimated_wire_bytes(Collective::gather, 100, 2, true), 0u);
  EXPECT_EQ(estimated_wire_bytes(Collective::scatter, 100, 2, false), 0u);
}

TEST(WireBytes, OfABarrierAreNone) {
  EXPECT_EQ(wire_bytes_of_all(Collective::barrier, 0, 8), 0u);
}

}  // namespace
}  // namespace lockstep::measure
