// The kernels of batch norm and of a bias, run on threads of the host with a sanitizer that ends the test at
// a misaligned address: parameters and their gradients may begin at any element (in a bucket they do), and
// the results have the same bits wherever they begin.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "lockstep/device/cuda/kernels/bias_kernels.cuh"
#include "lockstep/device/cuda/kernels/norm_kernels.cuh"
#include "lockstep/device/cuda/kernels/row_grid.h"

namespace lockstep::device::cuda {
namespace {

using Bf16s = std::vector<std::uint16_t>;

constexpr RowShape kShape{75, 24};  // three tiles of channels; in a narrow one several blocks of rows
constexpr std::size_t kElements = 75 * 24, kChannels = 24;
constexpr RowPlan kManyBlocks{4, 6};

float real(std::uint16_t bits) {
  return __uint_as_float(static_cast<std::uint32_t>(bits) << 16);
}

Bf16s random_values(std::size_t count, unsigned seed) {
  std::minstd_rand source(seed);
  std::normal_distribution<float> normal(0.5f, 1.0f);
  Bf16s values(count);
  for (std::uint16_t& value : values) value = static_cast<std::uint16_t>(rounded_bits(normal(source)));
  return values;
}

// Memory in which a row begins `offset` elements after a multiple of 16 bytes, and what follows it is kept.
class Row {
 public:
  Row(std::size_t count, std::size_t offset, const Bf16s& values = {})
      : octets_((offset + count) / kOctet + 2), count_(count), offset_(offset) {
    std::uninitialized_fill_n(bits(), octets_.size() * kOctet, kUntouched);
    std::copy(values.begin(), values.end(), begin());
  }
  std::uint16_t* begin() { return bits() + offset_; }
  Bf16s values() { return {begin(), begin() + count_}; }
  bool keeps_to_itself() {
    const std::uint16_t* const first = bits();
    const std::uint16_t* const end = first + octets_.size() * kOctet;
    return std::all_of(first, first + offset_, is_untouched) &&
           std::all_of(first + offset_ + count_, end, is_untouched);
  }

 private:
  static constexpr std::uint16_t kUntouched = 0x4bcd;
  static bool is_untouched(std::uint16_t value) { return value == kUntouched; }
  std::uint16_t* bits() { return reinterpret_cast<std::uint16_t*>(octets_.data()); }

  std::vector<Octet> octets_;
  std::size_t count_, offset_;
};

// Sums that every task needs for itself.
struct Sums {
  std::vector<float> partials = std::vector<float>(64 * 2 * kChannels);
  std::vector<std::uint32_t> arrivals = std::vector<std::uint32_t>(kChannels / kOctet);
  SumSpace space() { return {partials.data(), arrivals.data()}; }
};

// All tasks in one go: starting threads is what takes time here.
template <class Task, class Kernel>
void run_all(const RowPlan& plan, std::vector<Task>& tasks, const Kernel& kernel) {
  const RowGrid grid = row_grid(kShape, plan);
  testing::run_on_host(grid.blocks, grid.threads, [&] {
    for (Task& task : tasks) {
      kernel(task);
      __syncthreads();
    }
  });
}

const Bf16s kInput = random_values(kElements, 1), kShortcut = random_values(kElements, 2),
            kSlope = random_values(kElements, 3), kWeight = random_values(kChannels, 4),
            kBias = random_values(kChannels, 5);

// Batch norm forward and backward with weight and bias, and their gradients, at some offsets.
struct Norm {
  Norm(std::size_t weight_offset, std::size_t bias_offset)
      : weight(kChannels, weight_offset, kWeight),
        bias(kChannels, bias_offset, kBias),
        weight_gradient(kChannels, weight_offset, kWeight),
        bias_gradient(kChannels, bias_offset, kBias) {}

  NormFigures figures() { return {mean.data(), inverse.data()}; }
  NormStatistics statistics() { return {kShape, input.begin(), figures(), nullptr, nullptr, 0.1f, 1e-5f}; }
  NormForward forward(bool relu) {
    return {kShape,         input.begin(), shortcut.begin(), output.begin(),
            weight.begin(), bias.begin(),  figures(),        relu};
  }
  NormBackward backward() {
    return {kShape,
            input.begin(),
            output.begin(),
            slope.begin(),
            weight.begin(),
            figures(),
            weight_gradient.begin(),
            bias_gradient.begin(),
            true,
            factors.data(),
            shortcut_gradient.begin(),
            input_gradient.begin()};
  }

  Row weight, bias, weight_gradient, bias_gradient;
  Row input{kElements, 0, kInput}, shortcut{kElements, 0, kShortcut}, slope{kElements, 0, kSlope};
  Row output{kElements, 0}, shortcut_gradient{kElements, 0}, input_gradient{kElements, 0};
  std::vector<float> mean = std::vector<float>(kChannels), inverse = mean;
  std::vector<float> factors = std::vector<float>(3 * kChannels);
  Sums sums;
};

struct Bias {
  explicit Bias(std::size_t offset) : bias(kChannels, offset, kBias), gradient(kChannels, offset, kBias) {}

  BiasForward forward() { return {kShape, map.begin(), bias.begin(), true}; }
  BiasBackward backward() {
    return {kShape, map.begin(), slope.begin(), map_gradient.begin(), gradient.begin(), true};
  }

  Row bias, gradient;
  Row map{kElements, 0, kInput}, slope{kElements, 0, kSlope}, map_gradient{kElements, 0};
  Sums sums;
};

TEST(RowKernels, NormGivesTheSameBitsWhereverWeightAndBiasBegin) {
  std::vector<Norm> norms;
  for (std::size_t weight = 0; weight < kOctet; ++weight) {
    for (std::size_t bias = 0; bias < kOctet; ++bias) norms.emplace_back(weight, bias);
  }
  run_all(kManyBlocks, norms, [](Norm& norm) { find_statistics(norm.statistics(), norm.sums.space()); });
  run_all(kWalkPlan, norms, [](Norm& norm) { normalise<true, true>(norm.forward(true)); });
  run_all(kManyBlocks, norms,
          [](Norm& norm) { add_up_norm_slopes<true, true>(norm.backward(), norm.sums.space()); });
  run_all(kWalkPlan, norms, [](Norm& norm) { give_back<true, true>(norm.backward()); });

  Norm& aligned = norms.front();
  for (Norm& norm : norms) {
    EXPECT_EQ(norm.output.values(), aligned.output.values());
    EXPECT_EQ(norm.weight_gradient.values(), aligned.weight_gradient.values());
    EXPECT_EQ(norm.bias_gradient.values(), aligned.bias_gradient.values());
    EXPECT_EQ(norm.input_gradient.values(), aligned.input_gradient.values());
    EXPECT_EQ(norm.factors, aligned.factors);
    EXPECT_TRUE(norm.weight_gradient.keeps_to_itself() && norm.bias_gradient.keeps_to_itself());
  }
}

TEST(RowKernels, NormIsThatOfPlainArithmetic) {
  std::vector<Norm> norms;
  norms.emplace_back(3, 5);
  run_all(kManyBlocks, norms, [](Norm& norm) { find_statistics(norm.statistics(), norm.sums.space()); });
  run_all(kWalkPlan, norms, [](Norm& norm) { normalise<true, true>(norm.forward(true)); });
  const Bf16s output = norms.front().output.values();
  for (std::size_t channel = 0; channel < kChannels; ++channel) {
    double sum = 0, squares = 0;
    for (std::size_t at = channel; at < kElements; at += kChannels) {
      sum += real(kInput[at]);
      squares += static_cast<double>(real(kInput[at])) * real(kInput[at]);
    }
    const double mean = sum / 75, variance = squares / 75 - mean * mean;
    for (std::size_t at = channel; at < kElements; at += kChannels) {
      const double value = (real(kInput[at]) - mean) / std::sqrt(variance + 1e-5) * real(kWeight[channel]) +
                           real(kBias[channel]) + real(kShortcut[at]);
      EXPECT_NEAR(real(output[at]), std::max(value, 0.0), 0.01 * std::abs(value) + 1e-4);
    }
  }
}

TEST(RowKernels, BiasGivesTheSameBitsWhereverItBegins) {
  std::vector<Bias> biases;
  for (std::size_t offset = 0; offset < kOctet; ++offset) biases.emplace_back(offset);
  run_all(kWalkPlan, biases, [](Bias& bias) { add_bias<true>(bias.forward()); });
  run_all(kManyBlocks, biases,
          [](Bias& bias) { add_up_bias_slopes<true>(bias.backward(), bias.sums.space()); });

  const Bf16s map = biases.front().map.values();
  for (std::size_t at = 0; at < kElements; ++at) {
    const float sum = real(kInput[at]) + real(kBias[at % kChannels]);
    EXPECT_EQ(map[at], rounded_bits(sum < 0 ? 0.0f : sum));
  }
  for (Bias& bias : biases) {
    EXPECT_EQ(bias.map.values(), map);
    EXPECT_EQ(bias.map_gradient.values(), biases.front().map_gradient.values());
    EXPECT_EQ(bias.gradient.values(), biases.front().gradient.values());
    EXPECT_TRUE(bias.gradient.keeps_to_itself());
  }
}

}  // namespace
}  // namespace lockstep::device::cuda
