#include "lockstep/cli/bench/bench_data.h"

#include <gtest/gtest.h>

#include <cstring>

namespace lockstep::cli {
namespace {

constexpr std::size_t kCount = 10007;

std::vector<std::byte> filled(const Pattern& pattern, comm::ElementType type, std::size_t first = 0) {
  std::vector<std::byte> bytes(kCount * comm::bytes_of(type));
  pattern.fill(bytes.data(), kCount, first);
  return bytes;
}

std::vector<int> as_numbers(const Pattern& pattern) {
  const auto bytes = filled(pattern, comm::ElementType::i32);
  std::vector<int> numbers(kCount);
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

TEST(BenchData, encodes_small_numbers_exactly_in_the_short_floating_types) {
  std::uint16_t bits = 0;
  encode(1, comm::ElementType::f16, reinterpret_cast<std::byte*>(&bits));
  EXPECT_EQ(bits, 0x3C00);
  encode(255, comm::ElementType::f16, reinterpret_cast<std::byte*>(&bits));
  EXPECT_EQ(bits, 0x5BF8);
  encode(3, comm::ElementType::bf16, reinterpret_cast<std::byte*>(&bits));
  EXPECT_EQ(bits, 0x4040);
  encode(255, comm::ElementType::bf16, reinterpret_cast<std::byte*>(&bits));
  EXPECT_EQ(bits, 0x437F);
}

TEST(BenchData, a_pattern_finds_exactly_the_elements_that_were_changed) {
  const Cell cell{measure::Collective::all_reduce, comm::ElementType::f32, comm::ReduceOp::sum, 0, kCount};
  const Pattern pattern = reduce_input(cell, 1, 4);
  auto bytes = filled(pattern, cell.type, 17);
  EXPECT_EQ(pattern.count_wrong(bytes.data(), kCount, 17), 0u);
  bytes[4 * 9000] ^= std::byte{1};
  bytes[4 * 9001] ^= std::byte{1};
  EXPECT_EQ(pattern.count_wrong(bytes.data(), kCount, 17), 2u);
}

TEST(BenchData, a_pattern_that_lands_at_the_wrong_place_is_found) {
  const Cell cell{measure::Collective::all_gather, comm::ElementType::u8, comm::ReduceOp::sum, 0, kCount};
  const Pattern pattern = moved_data(cell, 0);
  for (const std::size_t shift : {1, 16, 64, 4096})
    EXPECT_GT(pattern.count_wrong(filled(pattern, cell.type, shift).data(), kCount, 0), kCount / 2) << shift;
  EXPECT_GT(moved_data(cell, 1).count_wrong(filled(pattern, cell.type).data(), kCount), kCount / 2);
}

class ReducedData : public ::testing::TestWithParam<std::tuple<comm::ReduceOp, int>> {};

// Checks the promises of the header for one reduction and world, in plain whole numbers.
TEST_P(ReducedData, stays_exact_in_every_type) {
  const auto [op, world] = GetParam();
  const Cell cell{measure::Collective::all_reduce, comm::ElementType::i32, op, 0, kCount};
  std::vector<int> sum(kCount, 0), most(kCount, 0), least(kCount, 255);
  for (int rank = 0; rank < world; ++rank) {
    const std::vector<int> input = as_numbers(reduce_input(cell, rank, world));
    for (std::size_t i = 0; i < kCount; ++i) {
      ASSERT_GE(input[i], 0);
      sum[i] += input[i];
      most[i] = std::max(most[i], input[i]);
      least[i] = std::min(least[i], input[i]);
    }
  }
  const std::vector<int> output = as_numbers(reduce_output(cell, world));
  for (std::size_t i = 0; i < kCount; ++i) {
    const bool adds = op == comm::ReduceOp::sum || op == comm::ReduceOp::mean;
    if (adds) ASSERT_LE(sum[i], 255);
    if (op == comm::ReduceOp::mean) ASSERT_EQ(sum[i] % world, 0) << i;
    const int expected = op == comm::ReduceOp::sum    ? sum[i]
                         : op == comm::ReduceOp::mean ? sum[i] / world
                         : op == comm::ReduceOp::max  ? most[i]
                                                      : least[i];
    ASSERT_EQ(output[i], expected) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, ReducedData,
                         ::testing::Combine(::testing::Values(comm::ReduceOp::sum, comm::ReduceOp::mean,
                                                              comm::ReduceOp::max, comm::ReduceOp::min),
                                            ::testing::Values(1, 2, 3, 5, 8, 16, 17, 64)));

}  // namespace
}  // namespace lockstep::cli
