// The logic of the kernel that reduces replicas' memory on a GPU, run on threads of the host: the bits of the
// host's own reduction for every type and reduction, aligned and not, in place, and to several outputs.
#include "tests/comm/p2p/host_device.h"

#include <gtest/gtest.h>

#include <random>

#include "lockstep/comm/cuda/device_reduce.cuh"
#include "lockstep/comm/reduction/reduction.h"
#include "tests/support/collective_cases.h"

namespace lockstep::comm {
namespace {

constexpr int kRanks = 3;
using Bytes = std::vector<std::byte>;

template <typename Element>
void call(ReduceOp op, const DeviceReduceTask& task) {
  switch (op) {
    case ReduceOp::sum:
      return device_reduce_kernel<Element, elements::Sum>(task);
    case ReduceOp::mean:
      return device_reduce_kernel<Element, elements::Mean>(task);
    case ReduceOp::max:
      return device_reduce_kernel<Element, elements::Max>(task);
    case ReduceOp::min:
      return device_reduce_kernel<Element, elements::Min>(task);
  }
}

void call(ReduceOp op, ElementType type, const DeviceReduceTask& task) {
  switch (type) {
    case ElementType::f32:
      return call<elements::Plain<float>>(op, task);
    case ElementType::f64:
      return call<elements::Plain<double>>(op, task);
    case ElementType::f16:
      return call<elements::Float16>(op, task);
    case ElementType::bf16:
      return call<elements::BFloat16>(op, task);
    case ElementType::i32:
      return call<elements::Plain<std::int32_t>>(op, task);
    case ElementType::i64:
      return call<elements::Plain<std::int64_t>>(op, task);
    case ElementType::u8:
      return call<elements::Plain<std::uint8_t>>(op, task);
  }
}

// Ranks' memory: numbers that are not exact in any type, `offset` elements into aligned memory.
struct Ranks {
  Ranks(ElementType type, std::size_t count, std::size_t offset) : begin(offset * bytes_of(type)) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> value(0.0, 60.0);
    for (Bytes& memory : memories) {
      memory.resize(begin + count * bytes_of(type));
      for (std::size_t i = 0; i < count; ++i)
        testing::write_element(memory.data() + begin, type, i, value(random));
    }
  }
  std::byte* at(int rank) { return memories[rank].data() + begin; }

  std::size_t begin;
  Bytes memories[kRanks];
};

void expect_the_hosts_bits(ReduceOp op, ElementType type, std::size_t count, std::size_t offset) {
  Ranks ranks(type, count, offset);
  const std::size_t bytes = count * bytes_of(type);
  Bytes expected(bytes);
  void* const to[] = {expected.data()};
  const void* const from[] = {ranks.at(0), ranks.at(1), ranks.at(2)};
  reduce_ranks(op, type, to, from, count);

  DeviceReduceTask task{};
  task.bytes = bytes;
  for (int rank = 0; rank < kRanks; ++rank) task.inputs[task.input_count++] = ranks.at(rank);
  for (const int rank : {0, 2}) task.outputs[task.output_count++] = ranks.at(rank);
  testing::run_kernel(2, [&] { call(op, type, task); });
  if (bytes == 0) return;
  for (const int rank : {0, 2}) EXPECT_EQ(std::memcmp(ranks.at(rank), expected.data(), bytes), 0);
  EXPECT_NE(std::memcmp(ranks.at(1), expected.data(), bytes), 0) << "what is no output was written";
}

TEST(DeviceReduce, GivesTheBitsOfTheHostsReduction) {
  for (const ElementType type : {ElementType::f32, ElementType::f64, ElementType::f16, ElementType::bf16,
                                 ElementType::i32, ElementType::i64, ElementType::u8})
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mean, ReduceOp::max, ReduceOp::min})
      for (const std::size_t offset : {0, 1}) {
        SCOPED_TRACE(std::string(name_of(type)) + " " + std::string(name_of(op)) + ", offset " +
                     std::to_string(offset));
        expect_the_hosts_bits(op, type, 1009, offset);
      }
}

TEST(DeviceReduce, DoesNothingForNoElements) {
  expect_the_hosts_bits(ReduceOp::sum, ElementType::f32, 0, 0);
}

}  // namespace
}  // namespace lockstep::comm
