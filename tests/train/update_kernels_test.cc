// Every instruction set this processor has must give the same bits, at any length and alignment.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "lockstep/train/kernels/update.h"

namespace lockstep::train::kernels {
namespace {

constexpr std::size_t kSpare = 16;  // room to begin off a vector's boundary

// Arrays of `count` elements as bytes; reals first.
struct Memory {
  Memory(Element element, std::int64_t count, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    const auto elements = static_cast<std::size_t>(count) + kSpare;
    for (auto* array : {&weight, &first, &second})
      fill(*array, real_bytes(element), elements, [&] { return normal(random); });
    for (auto& byte : second) byte &= std::byte{0x7f};  // second moments are not negative
    fill(gradient, value_bytes(element), elements, [&] { return normal(random); });
    rounded.resize(gradient.size());
  }

  template <class Next>
  static void fill(std::vector<std::byte>& array, std::int64_t bytes, std::size_t elements,
                   const Next& next) {
    array.resize(elements * static_cast<std::size_t>(bytes));
    for (std::size_t i = 0; i < elements; ++i) {
      const double value = next();
      const auto single = static_cast<float>(value);
      const auto* from =
          bytes == 8 ? reinterpret_cast<const char*>(&value) : reinterpret_cast<const char*>(&single);
      std::memcpy(array.data() + i * static_cast<std::size_t>(bytes), bytes == 2 ? from + 2 : from,
                  static_cast<std::size_t>(bytes));
    }
  }

  Stretch stretch(Element element, std::int64_t begin, std::int64_t count) {
    const auto real = begin * real_bytes(element), value = begin * value_bytes(element);
    return {weight.data() + real, rounded.data() + value, gradient.data() + value,
            first.data() + real,  second.data() + real,   count};
  }
  bool operator==(const Memory&) const = default;

  std::vector<std::byte> weight, rounded, gradient, first, second;
};

const std::vector<Element> kElements = {Element::f32, Element::f64, Element::bf16};

std::vector<const UpdateKernels*> runnable() {
  const UpdateKernels* all[3];
  return {all, all + runnable_update_kernels(all)};
}

template <class Update>
void expect_same_bits(const Update& update) {
  const auto copies = runnable();
  for (const Element element : kElements) {
    for (const std::int64_t count : {0, 1, 3, 7, 8, 15, 16, 17, 31, 64, 257, 1000}) {
      for (const std::int64_t begin : {0, 1, 5}) {
        Memory plain(element, count, 7);
        update(*copies.front(), element, plain.stretch(element, begin, count));
        for (const UpdateKernels* copy : copies) {
          Memory other(element, count, 7);
          update(*copy, element, other.stretch(element, begin, count));
          EXPECT_TRUE(plain == other) << "type " << static_cast<int>(element) << ", " << count << " elements";
        }
      }
    }
  }
}

TEST(UpdateKernels, SgdHasTheSameBitsOnEveryInstructionSet) {
  for (const SgdFactors factors :
       {SgdFactors{0.1, 0, 0, false}, SgdFactors{0.1, 0.9, 0.01, false}, SgdFactors{0.1, 0.9, 0.01, true}}) {
    expect_same_bits([&](const UpdateKernels& kernels, Element element, const Stretch& stretch) {
      kernels.sgd[static_cast<int>(element)](factors, stretch);
    });
  }
}

TEST(UpdateKernels, AdamHasTheSameBitsOnEveryInstructionSet) {
  for (const double decay : {0.0, 0.01}) {
    const AdamFactors factors{0.999, decay, 0.9, 0.999, 0.003, 0.7, 1e-8};
    expect_same_bits([&](const UpdateKernels& kernels, Element element, const Stretch& stretch) {
      kernels.adam[static_cast<int>(element)](factors, stretch);
    });
  }
}

TEST(UpdateKernels, ScalingHasTheSameBitsOnEveryInstructionSet) {
  expect_same_bits([](const UpdateKernels& kernels, Element element, const Stretch& stretch) {
    kernels.scale[static_cast<int>(element)](stretch.rounded, 0.3, stretch.count);
  });
}

TEST(UpdateKernels, SumsOfSquaresHaveTheSameBitsOnEveryInstructionSet) {
  for (const Element element : kElements) {
    for (const std::int64_t count : {0, 1, 15, 16, 17, 1000}) {
      Memory memory(element, count, 3);
      const auto sum = [&](const UpdateKernels& kernels) {
        return kernels.square_sum[static_cast<int>(element)](memory.gradient.data(), count);
      };
      for (const UpdateKernels* copy : runnable()) EXPECT_EQ(sum(*copy), sum(*runnable().front()));
    }
  }
}

TEST(UpdateKernels, StayWithinTheirStretch) {
  for (const Element element : kElements) {
    Memory memory(element, 100, 5);
    const Memory before = memory;
    update_kernels().sgd[static_cast<int>(element)]({0.1, 0.9, 0.01, false}, memory.stretch(element, 1, 100));
    const auto real = static_cast<std::size_t>(real_bytes(element));
    for (std::size_t i = 0; i < memory.weight.size(); ++i) {
      const bool inside = i >= real && i < 101 * real;
      EXPECT_TRUE(inside || memory.weight[i] == before.weight[i]);
    }
  }
}

}  // namespace
}  // namespace lockstep::train::kernels
