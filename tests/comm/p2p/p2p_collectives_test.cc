// What p2p promises beyond every device backend: the host's bits, exact wire bytes, and ranks that do not
// mean the same operation find out at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "lockstep/comm/reduction/reduction.h"
#include "tests/comm/cuda/device_support.h"
#include "tests/comm/p2p/p2p_ways.h"

namespace lockstep::testing {

const char* const kTestedBackend = "p2p";

namespace {

using comm::ElementType;
using comm::Purpose;
using comm::ReduceOp;
using ::testing::HasSubstr;

// Fractions of many sizes, so that the order and the number of roundings show in the bits.
std::vector<std::byte> fractions(ElementType type, std::size_t count, int rank) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = std::sin(static_cast<float>(i * 31 + static_cast<std::size_t>(rank) * 977)) *
                std::exp2(static_cast<float>(i % 7));
  std::vector<std::byte> bytes(count * comm::bytes_of(type));
  if (type == ElementType::f64) {
    const std::vector<double> wide(values.begin(), values.end());
    std::memcpy(bytes.data(), wide.data(), bytes.size());
  } else if (type == ElementType::f32) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  } else {
    comm::narrow(type, bytes.data(), values.data(), count);
  }
  return bytes;
}

std::vector<std::byte> reduced_on_host(ElementType type, ReduceOp op, std::size_t count, int world) {
  std::vector<std::vector<std::byte>> inputs;
  std::vector<const void*> addresses;
  for (int rank = 0; rank < world; ++rank) inputs.push_back(fractions(type, count, rank));
  for (const auto& input : inputs) addresses.push_back(input.data());
  std::vector<std::byte> result(count * comm::bytes_of(type));
  void* const outputs[] = {result.data()};
  comm::reduce_ranks(op, type, outputs, addresses, count);
  return result;
}

void expect_host_bits(comm::Communicator& communicator, ElementType type, ReduceOp op, std::size_t count) {
  const comm::Group& group = communicator.group();
  std::vector<std::byte> host = fractions(type, count, group.rank);
  comm::Allocation memory = communicator.allocate(host.size());
  const comm::Buffer on_device = memory.buffer(type);
  const comm::Buffer on_host = comm::host_buffer(host.data(), count, type);
  communicator.copy(on_device, on_host);
  communicator.run(comm::all_reduce(on_device, op, Purpose::gradient));
  communicator.copy(on_host, on_device);
  check(host == reduced_on_host(type, op, count, group.world),
        "the bits of an all_reduce of " + std::string(comm::name_of(type)) + " are not the host's");
}

class P2pCollectives : public ::testing::TestWithParam<P2pCase> {};

TEST_P(P2pCollectives, GiveTheBitsOfTheHostsReductionInRankOrder) {
  LOCKSTEP_NEED_DEVICE();
  expect_ranks_succeed(GetParam().world, [](Rank& self) {
    const auto communicator = open_waiting(self, GetParam().waiting);
    constexpr std::size_t kSmall = 1021, kLarge = (std::size_t{1} << 20) + 3;
    for (const ElementType type : {ElementType::f32, ElementType::f64, ElementType::f16, ElementType::bf16})
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mean})
        for (const std::size_t count : {kSmall, kLarge}) expect_host_bits(*communicator, type, op, count);
  });
}

// Many small and large ones in turn, with different numbers of blocks: slots and numbers must stay in step.
TEST_P(P2pCollectives, StayInStepOverThousandsOfOperationsOfAllSizes) {
  LOCKSTEP_NEED_DEVICE();
  expect_ranks_succeed(GetParam().world, [](Rank& self) {
    const auto communicator = open_waiting(self, GetParam().waiting);
    constexpr std::size_t kMost = std::size_t{1} << 20;
    comm::Allocation memory = communicator->allocate(kMost * sizeof(std::int32_t));
    const comm::Buffer all = memory.buffer(ElementType::i32);
    const std::vector<std::int32_t> ones(kMost, 1);
    std::vector<std::int32_t> found(kMost);
    for (int turn = 0; turn < 40; ++turn) {
      communicator->copy(
          all, {const_cast<std::int32_t*>(ones.data()), all.bytes, ElementType::i32, comm::Place::host});
      std::vector<comm::Work> works;
      for (int i = 0; i < 25; ++i) {
        const std::size_t count = (std::size_t{1} << ((turn * 7 + i * 5) % 20)) + static_cast<std::size_t>(i);
        works.push_back(communicator->start(
            comm::all_reduce(all.part(0, count * sizeof(std::int32_t)), ReduceOp::max, Purpose::gradient)));
      }
      works.push_back(communicator->start(comm::all_reduce(all, ReduceOp::sum, Purpose::gradient)));
      for (const comm::Work& work : works) work.wait();
      communicator->copy(comm::host_buffer(found.data(), kMost, ElementType::i32), all);
      for (const std::int32_t value : found) check(value == self.group.world, "a sum of ones is wrong");
    }
  });
}

TEST_P(P2pCollectives, CountTheBytesTheyReadFromOthers) {
  LOCKSTEP_NEED_DEVICE();
  expect_ranks_succeed(GetParam().world, [](Rank& self) {
    const auto communicator = open_waiting(self, GetParam().waiting);
    const auto peers = static_cast<std::uint64_t>(self.group.world - 1);
    comm::Allocation memory = communicator->allocate(4096);
    check(communicator->link() == "p2p", "the link has another name");
    const measure::Movement movement = communicator->run(
        comm::all_reduce(memory.buffer(ElementType::f32), ReduceOp::sum, Purpose::gradient));
    check(movement.wire_bytes == peers * 4096 && movement.messages == peers, "wire bytes are wrong");
    check(!movement.estimated && movement.peer_wait <= movement.busy, "the figures are not measured ones");
    check(communicator->run(comm::barrier()).wire_bytes == 0, "a barrier moved bytes");
  });
}

class P2pFailures : public ::testing::TestWithParam<const char*> {};

TEST_P(P2pFailures, SayThatAPeerMeansAnotherOperation) {
  LOCKSTEP_NEED_DEVICE();
  const std::vector<RankResult> results = run_ranks(
      2,
      [](Rank& self) {
        const auto communicator = open_waiting(self, GetParam(), std::chrono::seconds(5));
        std::vector<float> values(self.group.rank == 0 ? 100 : 101);
        communicator->run(comm::all_reduce(comm::host_buffer(values.data(), values.size(), ElementType::f32),
                                           ReduceOp::sum, Purpose::gradient));
      },
      std::chrono::seconds(60));
  for (const RankResult& result : results) EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(results[0].message, HasSubstr("rank 1 does not do the same"));
  EXPECT_THAT(results[0].message, HasSubstr("all_reduce (sum) of 100 f32"));
}

TEST_P(P2pFailures, NameTheRankThatDidNotComeToAnOperation) {
  LOCKSTEP_NEED_DEVICE();
  const std::vector<RankResult> results = run_ranks(
      3,
      [](Rank& self) {
        const auto communicator = open_waiting(self, GetParam(), std::chrono::seconds(3));
        if (self.group.rank != 1)
          communicator->run(comm::barrier());
        else
          std::this_thread::sleep_for(std::chrono::seconds(6));
      },
      std::chrono::seconds(60));
  EXPECT_THAT(results[0].message, HasSubstr("rank 1 did not come"));
  EXPECT_THAT(results[2].message, HasSubstr("rank 1 did not come"));
}

// Rank 1 gives the operation, but its device is held before it.
TEST_P(P2pFailures, TellARankWhoseDeviceIsLateFromOneThatDidNotCome) {
  LOCKSTEP_NEED_DEVICE();
  const std::vector<RankResult> results = run_ranks(
      2,
      [](Rank& self) {
        const auto communicator = open_waiting(self, GetParam(), std::chrono::seconds(3));
        if (self.group.rank == 1) communicator->queue().delay(std::chrono::seconds(6));
        communicator->run(comm::barrier());
      },
      std::chrono::seconds(60));
  EXPECT_THAT(results[0].message, HasSubstr("rank 1 came, but its device did not get to it"));
  EXPECT_THAT(results[0].message, HasSubstr("submitted #2 barrier"));
}

TEST(P2pSettings, ThatDifferAreRefusedByName) {
  LOCKSTEP_NEED_DEVICE();
  const std::vector<RankResult> results = run_ranks(
      2, [](Rank& self) { open_waiting(self, self.group.rank == 0 ? "blocks" : "memory"); },
      std::chrono::seconds(60));
  for (const RankResult& result : results) EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(results[0].message, HasSubstr("LOCKSTEP_P2P_WAIT"));
}

INSTANTIATE_TEST_SUITE_P(Ways, P2pFailures, ::testing::ValuesIn(kP2pWays),
                         [](const auto& way) { return std::string(way.param); });
INSTANTIATE_TEST_SUITE_P(Ranks, P2pCollectives, ::testing::ValuesIn(p2p_cases({1, 2, 4})), name_of_p2p_case);

}  // namespace
}  // namespace lockstep::testing
