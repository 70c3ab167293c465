// The reduction kernels: the same bits from every instruction set, correct rounding of 16-bit floats.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "lockstep/comm/reduction/kernels.h"
#include "lockstep/comm/reduction/reduction.h"
#include "tests/support/collective_cases.h"

namespace lockstep::testing {
namespace {

using comm::ElementType;
using comm::ReduceOp;
namespace kernels = comm::kernels;

std::vector<const kernels::Table*> usable_tables() {
  const kernels::Table* tables[kernels::kMostTables] = {};
  const int count = kernels::usable(tables);
  return {tables, tables + count};
}

// Random bits that are ordinary numbers in every type.
std::vector<std::byte> random_values(ElementType type, std::size_t count, unsigned seed) {
  std::vector<std::byte> memory(count * comm::bytes_of(type));
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    const double whole = static_cast<double>(random() % 100) - (type == ElementType::u8 ? 0 : 50);
    write_element(memory.data(), type, i, whole);
  }
  if (type == ElementType::f32)
    for (std::size_t i = 0; i < count; ++i) reinterpret_cast<float*>(memory.data())[i] *= 1.1f;
  return memory;
}

TEST(Reduction, GivesTheSameBitsOnEveryInstructionSet) {
  constexpr std::size_t kCount = 5000;
  for (int op = 0; op < comm::kReduceOpCount; ++op)
    for (int t = 0; t < comm::kElementTypeCount; ++t)
      for (const int ranks : {1, 2, 3, 7}) {
        const auto type = static_cast<ElementType>(t);
        std::vector<std::vector<std::byte>> inputs;
        std::vector<const void*> pointers;
        for (int r = 0; r < ranks; ++r)
          inputs.push_back(random_values(type, kCount, static_cast<unsigned>(r)));
        for (const auto& input : inputs) pointers.push_back(input.data());
        std::vector<std::byte> expected;
        for (const kernels::Table* table : usable_tables()) {
          std::vector<std::byte> output(kCount * comm::bytes_of(type));
          void* const outputs[] = {output.data()};
          table->reduce[op][t](outputs, 1, pointers.data(), ranks, kCount);
          if (expected.empty()) expected = output;
          EXPECT_EQ(output, expected)
              << table->name << " " << comm::name_of(type) << " op " << op << " ranks " << ranks;
        }
      }
}

TEST(Reduction, RoundsHalvesToNearestEvenForEveryBitPattern) {
  // value + 0 must give the value back, for every finite f16 and bf16, on every instruction set.
  for (const ElementType type : {ElementType::f16, ElementType::bf16}) {
    std::vector<std::uint16_t> all, zeros(65536, 0), result(65536);
    const unsigned exponent_mask = type == ElementType::f16 ? 0x7c00 : 0x7f80;
    for (unsigned bits = 0; bits < 65536; ++bits)
      if ((bits & exponent_mask) != exponent_mask && bits != 0x8000)
        all.push_back(static_cast<std::uint16_t>(bits));
    for (const kernels::Table* table : usable_tables()) {
      const void* inputs[] = {all.data(), zeros.data()};
      void* const outputs[] = {result.data()};
      table->reduce[0][static_cast<int>(type)](outputs, 1, inputs, 2, all.size());
      EXPECT_EQ(std::memcmp(result.data(), all.data(), all.size() * 2), 0)
          << table->name << " " << comm::name_of(type);
    }
  }
}

TEST(Reduction, RoundsTiesOfF16SumsToEven) {
  // 2048 + 1 lies between 2048 and 2050 and goes to the even 2048; 2050 + 1 to 2052.
  std::vector<std::uint16_t> a(2), b(2), out(2);
  write_element(a.data(), ElementType::f16, 0, 2048);
  write_element(a.data(), ElementType::f16, 1, 2050);
  write_element(b.data(), ElementType::f16, 0, 1);
  write_element(b.data(), ElementType::f16, 1, 1);
  const void* inputs[] = {a.data(), b.data()};
  void* outputs[] = {out.data()};
  comm::reduce_ranks(ReduceOp::sum, ElementType::f16, outputs, inputs, 2);
  EXPECT_EQ(read_element(out.data(), ElementType::f16, 0), 2048);
  EXPECT_EQ(read_element(out.data(), ElementType::f16, 1), 2052);
}

TEST(Reduction, CombinesAndFinishesAMean) {
  std::vector<float> sum = {1, 2, 3}, next = {3, 4, 5};
  comm::combine(ReduceOp::mean, ElementType::f32, sum.data(), next.data(), 3);
  comm::finish_mean(ElementType::f32, sum.data(), 3, 2);
  EXPECT_EQ(sum, (std::vector<float>{2, 3, 4}));
}

}  // namespace
}  // namespace lockstep::testing
