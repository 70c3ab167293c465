// The kernels' logic, run on threads of the host between processes that share memory: every collective, sizes
// that take several blocks and rounds, parts of unequal size, in place, and waits that end.
#include "tests/comm/p2p/host_rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "lockstep/comm/cuda/buffer_use.h"
#include "lockstep/comm/p2p/peer_facts.h"
#include "lockstep/comm/reduction/reduction.h"
#include "tests/support/ranks.h"

namespace lockstep::comm::p2p {
namespace {

using testing::check;
using testing::Rank;
using Bytes = std::vector<std::byte>;

// What `rank` puts in: bytes that are no NaN in any type, different for every rank and turn.
Bytes input_of(int rank, int turn, std::size_t bytes) {
  Bytes made(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    made[i] = static_cast<std::byte>((i * 13 + static_cast<std::size_t>(rank * 101 + turn * 17)) % 61);
  return made;
}

Bytes reduced(const Operation& operation, int world, int turn) {
  std::vector<Bytes> inputs;
  std::vector<const void*> addresses;
  for (int rank = 0; rank < world; ++rank) inputs.push_back(input_of(rank, turn, operation.input.bytes));
  for (const Bytes& input : inputs) addresses.push_back(input.data());
  Bytes result(operation.input.bytes);
  void* const outputs[] = {result.data()};
  reduce_ranks(operation.reduce_op, operation.type(), outputs, addresses,
               operation.input.bytes / bytes_of(operation.type()));
  return result;
}

void expect_same(const std::byte* found, const std::byte* expected, std::size_t bytes,
                 const Operation& operation) {
  for (std::size_t i = 0; i < bytes; ++i)
    if (found[i] != expected[i])
      check(false, describe(operation) + ": byte " + std::to_string(i) + " is wrong");
}

struct Shape {
  std::size_t elements;  // per rank
  std::uint32_t most_blocks;
  std::size_t shift;  // bytes by which buffers miss the alignment of 16
};

class Script {
 public:
  Script(HostRank& host, const Group& group, const Shape& shape)
      : host_(host), group_(group), shape_(shape) {}

  void all_reduces(ElementType type, ReduceOp op, bool in_place) {
    const std::size_t bytes = shape_.elements * bytes_of(type);
    Buffer input = fill(input_memory_, bytes, type);
    Buffer output = in_place ? input : blank(output_memory_, bytes, type);
    const Operation operation = all_reduce(input, output, op, Purpose::gradient);
    finish(operation, reduced(operation, group_.world, turn_), 0, bytes);
  }

  void reduces(ElementType type, ReduceOp op, int root) {
    const std::size_t bytes = shape_.elements * bytes_of(type);
    const Buffer input = fill(input_memory_, bytes, type);
    const Buffer output = blank(output_memory_, bytes, type);
    const bool is_root = group_.rank == root;
    const Operation operation = reduce(input, is_root ? output : Buffer{}, op, root, Purpose::gradient);
    finish(operation, reduced(operation, group_.world, turn_), 0, is_root ? bytes : 0);
  }

  void reduce_scatters(ElementType type, ReduceOp op, bool in_place) {
    const std::vector<std::size_t> counts = unequal();
    const std::size_t total = sum(counts) * bytes_of(type), own = count(counts) * bytes_of(type);
    const std::size_t offset = before(counts) * bytes_of(type);
    const Buffer input = fill(input_memory_, total, type);
    const Buffer output = in_place ? input.part(offset, own) : blank(output_memory_, own, type);
    const Operation operation = reduce_scatter(input, output, op, Purpose::gradient, counts);
    finish(operation, reduced(operation, group_.world, turn_), offset, own);
  }

  void gathers(bool all, bool in_place, int root) {
    const std::vector<std::size_t> counts = unequal();
    const bool holds_all = all || group_.rank == root;
    const Buffer output = holds_all ? blank(output_memory_, sum(counts) * 4, ElementType::f32) : Buffer{};
    Buffer input = fill(input_memory_, count(counts) * 4, ElementType::f32);
    if (in_place && holds_all) {
      const Buffer own = output.part(before(counts) * 4, count(counts) * 4);
      if (own.bytes > 0) std::memcpy(own.data, input.data, own.bytes);
      input = own;
    }
    const Operation operation = all ? all_gather(input, output, Purpose::parameter, counts)
                                    : gather(input, output, root, Purpose::parameter, counts);
    Bytes expected;
    for (int rank = 0; rank < group_.world; ++rank) {
      const Bytes part = input_of(rank, turn_, counts[static_cast<std::size_t>(rank)] * 4);
      expected.insert(expected.end(), part.begin(), part.end());
    }
    finish(operation, expected, 0, holds_all ? expected.size() : 0);
  }

  void scatters(int root) {
    const std::vector<std::size_t> counts = unequal();
    const Buffer input = fill(input_memory_, sum(counts) * 4, ElementType::f32);
    const Buffer output = blank(output_memory_, count(counts) * 4, ElementType::f32);
    const Operation operation =
        scatter(group_.rank == root ? input : Buffer{}, output, root, Purpose::input, counts);
    finish(operation, input_of(root, turn_, sum(counts) * 4), before(counts) * 4, count(counts) * 4);
  }

  void broadcasts(int root) {
    const Buffer buffer = fill(input_memory_, shape_.elements * 4, ElementType::f32);
    const Operation operation = broadcast(buffer, root, Purpose::parameter);
    finish(operation, input_of(root, turn_, buffer.bytes), 0, buffer.bytes);
  }

  // Every rank sends to the next; the last receives first.
  void sends_around() {
    const int next = (group_.rank + 1) % group_.world,
              previous = (group_.rank + group_.world - 1) % group_.world;
    const std::size_t bytes = shape_.elements * 4;
    const Operation out = send(fill(input_memory_, bytes, ElementType::f32), next, Purpose::gradient);
    const Operation in = receive(blank(output_memory_, bytes, ElementType::f32), previous, Purpose::gradient);
    const bool receives_first = group_.rank == group_.world - 1;
    host_.run(receives_first ? in : out);
    host_.run(receives_first ? out : in);
    const Bytes expected = input_of(previous, turn_, bytes);
    expect_same(static_cast<std::byte*>(in.output.data), expected.data(), bytes, in);
    ++turn_;
  }

  void meets() { host_.run(barrier()); }

 private:
  Buffer at(Bytes& memory, std::size_t bytes, ElementType type) {
    memory.assign(bytes + 64, std::byte{0xcd});
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    return {memory.data() + (16 - address % 16) % 16 + shape_.shift, bytes, type, Place::device};
  }
  Buffer fill(Bytes& memory, std::size_t bytes, ElementType type) {
    const Buffer buffer = at(memory, bytes, type);
    const Bytes input = input_of(group_.rank, turn_, bytes);
    if (bytes > 0) std::memcpy(buffer.data, input.data(), bytes);
    return buffer;
  }
  Buffer blank(Bytes& memory, std::size_t bytes, ElementType type) { return at(memory, bytes, type); }

  std::vector<std::size_t> unequal() const {
    std::vector<std::size_t> counts(static_cast<std::size_t>(group_.world), shape_.elements);
    for (std::size_t rank = 0; rank < counts.size(); ++rank)
      counts[rank] = rank % 3 == 2 ? 0 : shape_.elements - rank % 2 * (shape_.elements / 3);
    return counts;
  }
  static std::size_t sum(const std::vector<std::size_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  }
  std::size_t count(const std::vector<std::size_t>& counts) const {
    return counts[static_cast<std::size_t>(group_.rank)];
  }
  std::size_t before(const std::vector<std::size_t>& counts) const {
    return std::accumulate(counts.begin(), counts.begin() + group_.rank, std::size_t{0});
  }

  void finish(const Operation& operation, const Bytes& expected, std::size_t offset, std::size_t bytes) {
    validate(operation, group_.rank, group_.world);
    host_.run(operation);
    check(host_.words().trouble == 0, describe(operation) + " gave up");
    expect_same(static_cast<std::byte*>(operation.output.data), expected.data() + offset, bytes, operation);
    ++turn_;
  }

  HostRank& host_;
  const Group& group_;
  Shape shape_;
  int turn_ = 0;
  Bytes input_memory_, output_memory_;
};

void run_everything(Script& script, int world) {
  script.meets();
  for (const bool in_place : {false, true}) {
    script.all_reduces(ElementType::f32, ReduceOp::sum, in_place);
    script.all_reduces(ElementType::bf16, ReduceOp::mean, in_place);
    script.all_reduces(ElementType::u8, ReduceOp::max, in_place);
    script.reduce_scatters(ElementType::f16, ReduceOp::sum, in_place);
    script.reduce_scatters(ElementType::i64, ReduceOp::mean, in_place);
    script.gathers(true, in_place, 0);
    script.gathers(false, in_place, world - 1);
  }
  script.reduces(ElementType::f64, ReduceOp::min, world - 1);
  script.broadcasts(world - 1);
  script.scatters(world - 1);
  script.sends_around();
  script.sends_around();
  script.all_reduces(ElementType::i32, ReduceOp::mean, true);
}

// Both ways of doing an operation: as one kernel that waits, and in phases.
class P2pKernels : public ::testing::TestWithParam<std::tuple<int, Waiting>> {};

TEST_P(P2pKernels, GiveExactResultsForEveryCollectiveInSeveralBlocksAndRounds) {
  const auto [world, waiting] = GetParam();
  for (const Shape& shape : {Shape{1, 3, 0}, Shape{1000, 3, 8}, Shape{20011, 3, 0}, Shape{210007, 1, 0}}) {
    const SharedArenas arenas(world);
    testing::expect_ranks_succeed(world, [&, ranks = world, way = waiting](Rank& self) {
      HostRank host(arenas, self.group, way, shape.most_blocks);
      Script script(host, self.group, shape);
      run_everything(script, ranks);
    });
  }
}

std::string name_of_case(const ::testing::TestParamInfo<std::tuple<int, Waiting>>& info) {
  return std::to_string(std::get<0>(info.param)) + std::string(name_of(std::get<1>(info.param)));
}
INSTANTIATE_TEST_SUITE_P(Ranks, P2pKernels,
                         ::testing::Combine(::testing::Values(2, 3, 4),
                                            ::testing::Values(Waiting::blocks, Waiting::memory)),
                         name_of_case);

Operation sum_of(std::vector<float>& values) {
  return all_reduce({values.data(), values.size() * 4, ElementType::f32, Place::device}, ReduceOp::sum,
                    Purpose::gradient);
}

class P2pWaits : public ::testing::TestWithParam<Waiting> {};
INSTANTIATE_TEST_SUITE_P(Ways, P2pWaits, ::testing::Values(Waiting::blocks, Waiting::memory),
                         [](const auto& way) { return std::string(name_of(way.param)); });

// In phases the time is the host's.
TEST(P2pBlocks, NameThePeerThatDoesNotCome) {
  const SharedArenas arenas(3);
  testing::expect_ranks_succeed(3, [&](Rank& self) {
    if (self.group.rank == 1) return;
    HostRank host(arenas, self.group, Waiting::blocks, 2);
    std::vector<float> values(5000);
    host.run(sum_of(values), std::chrono::milliseconds(200));
    check(host.words().trouble == static_cast<std::uint32_t>(Trouble::timed_out),
          "the wait did not end by its time");
    check(host.words().peer == 1, "another peer is named");
    host.run(sum_of(values), std::chrono::hours(1));  // what is still on the stream leaves at once
  });
}

TEST_P(P2pWaits, EndAtOnceWhenAPeerMeansAnotherOperation) {
  const SharedArenas arenas(2);
  testing::expect_ranks_succeed(2, [&](Rank& self) {
    HostRank host(arenas, self.group, GetParam(), 2);
    std::vector<float> values(self.group.rank == 0 ? 20'000 : 20'001);  // several blocks
    host.run(sum_of(values));
    check(host.words().trouble == static_cast<std::uint32_t>(Trouble::disagreement), "nothing was noticed");
    check(host.words().peer == 1 - self.group.rank, "another peer is named");
  });
}

TEST_P(P2pWaits, EndWhenTheHostAborts) {
  const SharedArenas arenas(2);
  testing::expect_ranks_succeed(2, [&](Rank& self) {
    if (self.group.rank == 1) return;
    HostRank host(arenas, self.group, GetParam(), 2);
    std::jthread stopper([&host] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      __atomic_store_n(&host.words().abort, 1u, __ATOMIC_RELEASE);
    });
    std::vector<float> values(20'000);  // several blocks, in phases too
    host.run(sum_of(values));
    check(host.words().trouble == 0, "an abort was taken for a failure of a peer");
  });
}

TEST_P(P2pWaits, AreMeasuredUntilTheLastRankHasCome) {
  const SharedArenas arenas(2);
  testing::expect_ranks_succeed(2, [&](Rank& self) {
    HostRank host(arenas, self.group, GetParam(), 2);
    std::vector<float> values(10);
    if (self.group.rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    host.run(sum_of(values));
    if (self.group.rank == 0) check(host.first_wait() > 100'000'000, "a late rank was not waited for");
  });
}

}  // namespace
}  // namespace lockstep::comm::p2p
