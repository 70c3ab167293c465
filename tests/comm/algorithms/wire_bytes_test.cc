// What every rank sends, byte for byte and message for message, against the formulas of docs/algorithms.md.
#include <gtest/gtest.h>

#include <numeric>

#include "lockstep/comm/algorithms/collectives.h"
#include "lockstep/comm/algorithms/segments.h"
#include "tests/comm/algorithms/thread_messenger.h"

namespace lockstep::testing {
namespace {

using comm::Buffer;
using comm::ElementType;
using comm::Exchange;
using comm::Operation;
using comm::ReduceOp;
using comm::Traffic;

constexpr std::size_t kCount = 1009;  // elements of 4 bytes
constexpr std::size_t kBytes = kCount * 4;
constexpr comm::AlgorithmOptions kOptions{.segment_bytes = 256, .lookahead = 4, .small_bytes = 0};
constexpr auto kPurpose = comm::Purpose::gradient;

using Algorithm = void (*)(Exchange&, const Operation&);
using Make = std::function<Operation(int rank, Buffer input, Buffer output)>;

class WireBytesTest : public ::testing::TestWithParam<int> {
 protected:
  int world() const { return GetParam(); }

  // What each rank sent.
  std::vector<Traffic> traffic_of(Algorithm algorithm, const Make& make) {
    std::vector<Traffic> sent(static_cast<std::size_t>(world()));
    run_threads(
        world(),
        [&](Exchange& exchange) {
          std::vector<float> input(kCount * 8), output(kCount * 8);
          const Operation operation =
              make(exchange.rank(), comm::host_buffer(input.data(), input.size(), ElementType::f32),
                   comm::host_buffer(output.data(), output.size(), ElementType::f32));
          algorithm(exchange, operation);
          sent[static_cast<std::size_t>(exchange.rank())] = exchange.messenger.take_traffic();
        },
        kOptions);
    return sent;
  }

  std::vector<comm::Part> chunks() const { return comm::equal_chunks(kCount, 4, world()); }
  std::size_t chunk_bytes(int rank) const {
    return chunks()[static_cast<std::size_t>((rank + world()) % world())].bytes;
  }
  static std::size_t messages_for(std::size_t bytes, std::size_t segment_bytes) {
    return (bytes + segment_bytes - 1) / segment_bytes;
  }
  std::size_t total_parts() const {
    std::size_t total = 0;
    for (int rank = 0; rank < world(); ++rank) total += part_bytes(rank);
    return total;
  }
  // Unequal parts: 40, 80, 120, ... bytes.
  std::size_t part_bytes(int rank) const {
    return 40 * (static_cast<std::size_t>((rank + world()) % world()) + 1);
  }
  std::vector<std::size_t> counts() const {
    std::vector<std::size_t> all;
    for (int rank = 0; rank < world(); ++rank) all.push_back(part_bytes(rank) / 4);
    return all;
  }
};

TEST_P(WireBytesTest, RingAllReduceSendsTwiceTheTensorLessTwoChunks) {
  const auto sent = traffic_of(comm::all_reduce_ring, [](int, Buffer in, Buffer out) {
    return comm::all_reduce(in.part(0, kBytes), out.part(0, kBytes), ReduceOp::sum, kPurpose);
  });
  const comm::Segments segments(comm::longest_bytes(chunks()), kOptions.segment_bytes);
  for (int rank = 0; rank < world(); ++rank) {
    const Traffic& traffic = sent[static_cast<std::size_t>(rank)];
    EXPECT_EQ(traffic.wire_bytes, 2 * kBytes - chunk_bytes(rank) - chunk_bytes(rank + 1));
    std::size_t messages = 0;
    for (int other = 0; other < world(); ++other)
      messages += messages_for(chunk_bytes(other), segments.bytes) *
                  (2U - (other == rank ? 1U : 0U) - (other == (rank + 1) % world() ? 1U : 0U));
    EXPECT_EQ(traffic.messages, messages);
  }
}

TEST_P(WireBytesTest, DoublingAllReduceSendsTheTensorOnceAStep) {
  const auto sent = traffic_of(comm::all_reduce_doubling, [](int, Buffer in, Buffer out) {
    return comm::all_reduce(in.part(0, kBytes), out.part(0, kBytes), ReduceOp::sum, kPurpose);
  });
  int core = 1, steps = 0;
  for (; core * 2 <= world(); core *= 2) ++steps;
  for (int rank = 0; rank < world(); ++rank) {
    const std::size_t times =
        rank >= core ? 1U : static_cast<std::size_t>(steps) + (rank + core < world() ? 1U : 0U);
    EXPECT_EQ(sent[static_cast<std::size_t>(rank)].wire_bytes, times * kBytes);
    EXPECT_EQ(sent[static_cast<std::size_t>(rank)].messages, times);
  }
}

TEST_P(WireBytesTest, RingReduceScatterSendsAllButTheOwnPart) {
  const auto sent = traffic_of(comm::reduce_scatter_ring, [this](int rank, Buffer in, Buffer out) {
    return comm::reduce_scatter(in.part(0, total_parts()), out.part(0, part_bytes(rank)), ReduceOp::sum,
                                kPurpose, counts());
  });
  for (int rank = 0; rank < world(); ++rank)
    EXPECT_EQ(sent[static_cast<std::size_t>(rank)].wire_bytes, total_parts() - part_bytes(rank));
}

TEST_P(WireBytesTest, RingAllGatherSendsAllButTheNextRanksPart) {
  const auto sent = traffic_of(comm::all_gather_ring, [this](int rank, Buffer in, Buffer out) {
    return comm::all_gather(in.part(0, part_bytes(rank)), out.part(0, total_parts()), kPurpose, counts());
  });
  for (int rank = 0; rank < world(); ++rank)
    EXPECT_EQ(sent[static_cast<std::size_t>(rank)].wire_bytes, total_parts() - part_bytes(rank + 1));
}

TEST_P(WireBytesTest, DirectAllGatherSendsTheOwnPartToEveryOther) {
  const auto sent = traffic_of(comm::all_gather_direct, [this](int rank, Buffer in, Buffer out) {
    return comm::all_gather(in.part(0, part_bytes(rank)), out.part(0, total_parts()), kPurpose, counts());
  });
  for (int rank = 0; rank < world(); ++rank)
    EXPECT_EQ(sent[static_cast<std::size_t>(rank)].wire_bytes,
              part_bytes(rank) * static_cast<std::size_t>(world() - 1));
}

TEST_P(WireBytesTest, ChainsSendTheTensorOnceFromEveryRankButTheLast) {
  const int root = world() / 2;
  const int end_of_broadcast = (root + world() - 1) % world();
  const auto broadcast = traffic_of(comm::broadcast_chain, [&](int, Buffer in, Buffer) {
    return comm::broadcast(in.part(0, kBytes), root, kPurpose);
  });
  const auto reduce = traffic_of(comm::reduce_chain, [&](int, Buffer in, Buffer out) {
    return comm::reduce(in.part(0, kBytes), out.part(0, kBytes), ReduceOp::sum, root, kPurpose);
  });
  for (int rank = 0; rank < world(); ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    EXPECT_EQ(broadcast[index].wire_bytes, rank == end_of_broadcast ? 0 : kBytes);
    EXPECT_EQ(reduce[index].wire_bytes, rank == root ? 0 : kBytes);
  }
}

TEST_P(WireBytesTest, TreesSendTheTensorOnceLessThanThereAreRanks) {
  const int root = world() - 1;
  const auto broadcast = traffic_of(comm::broadcast_tree, [&](int, Buffer in, Buffer) {
    return comm::broadcast(in.part(0, kBytes), root, kPurpose);
  });
  const auto reduce = traffic_of(comm::reduce_tree, [&](int, Buffer in, Buffer out) {
    return comm::reduce(in.part(0, kBytes), out.part(0, kBytes), ReduceOp::sum, root, kPurpose);
  });
  std::size_t steps = 0, broadcast_bytes = 0;
  while ((1 << steps) < world()) ++steps;
  for (const Traffic& traffic : broadcast) broadcast_bytes += traffic.wire_bytes;
  EXPECT_EQ(broadcast_bytes, kBytes * static_cast<std::size_t>(world() - 1));
  EXPECT_EQ(broadcast[static_cast<std::size_t>(root)].wire_bytes, kBytes * steps);
  for (int rank = 0; rank < world(); ++rank)
    EXPECT_EQ(reduce[static_cast<std::size_t>(rank)].wire_bytes, rank == root ? 0 : kBytes);
}

TEST_P(WireBytesTest, GatherAndScatterSendEveryPartOnce) {
  const int root = world() - 1;
  const auto gather = traffic_of(comm::gather_direct, [&](int rank, Buffer in, Buffer out) {
    return comm::gather(in.part(0, part_bytes(rank)), out.part(0, total_parts()), root, kPurpose, counts());
  });
  const auto scatter = traffic_of(comm::scatter_direct, [&](int rank, Buffer in, Buffer out) {
    return comm::scatter(in.part(0, total_parts()), out.part(0, part_bytes(rank)), root, kPurpose, counts());
  });
  for (int rank = 0; rank < world(); ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    EXPECT_EQ(gather[index].wire_bytes, rank == root ? 0 : part_bytes(rank));
    EXPECT_EQ(scatter[index].wire_bytes, rank == root ? total_parts() - part_bytes(root) : 0);
  }
}

TEST_P(WireBytesTest, BarrierSendsEmptyMessages) {
  const auto sent =
      traffic_of([](Exchange& exchange, const Operation&) { comm::barrier_dissemination(exchange); },
                 [](int, Buffer, Buffer) { return comm::barrier(); });
  std::size_t steps = 0;
  while ((1 << steps) < world()) ++steps;
  for (const Traffic& traffic : sent) {
    EXPECT_EQ(traffic.wire_bytes, 0U);
    EXPECT_EQ(traffic.messages, steps);
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, WireBytesTest, ::testing::Values(2, 3, 4, 5, 7, 8),
                         [](const auto& ranks) { return std::to_string(ranks.param); });

}  // namespace
}  // namespace lockstep::testing
