#include "lockstep/device/cuda/kernels/dropout.h"

#include <algorithm>

#include "lockstep/device/cuda/cuda_error.h"

namespace lockstep::device::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 4096;

// The host's generator makes this many counters side by side, and puts the four words of each apart.
constexpr std::uint64_t kLanes = 16;

__device__ std::uint64_t mix(std::uint64_t one, std::uint64_t other) {
  std::uint64_t z = one * 0x9E3779B97F4A7C15ull + other + 0x632BE59BD9B4E019ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// Word `index` of the stream.
__device__ std::uint32_t word_of(std::uint64_t key, std::uint64_t stream, std::uint64_t index) {
  const std::uint64_t place = index % (4 * kLanes), block = index / (4 * kLanes) * kLanes + place % kLanes;
  std::uint32_t c[4] = {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                        static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)};
  auto k0 = static_cast<std::uint32_t>(key);
  auto k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = 0xD2511F53ull * c[0], product1 = 0xCD9E8D57ull * c[2];
    c[0] = static_cast<std::uint32_t>(product1 >> 32) ^ c[1] ^ k0;
    c[1] = static_cast<std::uint32_t>(product1);
    c[2] = static_cast<std::uint32_t>(product0 >> 32) ^ c[3] ^ k1;
    c[3] = static_cast<std::uint32_t>(product0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  const std::uint64_t which = place / kLanes;
  return which == 0 ? c[0] : which == 1 ? c[1] : which == 2 ? c[2] : c[3];
}

struct Bf16 {
  unsigned short bits;
};
__device__ float times(float value, float mask) {
  return value * mask;
}
__device__ double times(double value, float mask) {
  return value * static_cast<double>(mask);
}
__device__ unsigned short rounded(float value) {
  const unsigned bits = __float_as_uint(value);
  return static_cast<unsigned short>(value != value ? 0x7fc0u : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
__device__ float widened(unsigned short bits) {
  return __uint_as_float(static_cast<unsigned>(bits) << 16);
}
// The host rounds the mask to bf16 before it multiplies.
__device__ Bf16 times(Bf16 value, float mask) {
  return {rounded(widened(value.bits) * widened(rounded(mask)))};
}

// Where an element of a row stands in the mask, which is in the order of channels, height, width.
__device__ std::int64_t mask_index(const DropoutTask& task, std::int64_t element) {
  if (task.channels == 0) return element;
  return element % task.channels * (task.row_elements / task.channels) + element / task.channels;
}

template <class Value>
__global__ void __launch_bounds__(kThreads)
    apply_mask(const DropoutTask task, const std::uint32_t threshold, const float kept) {
  const std::uint64_t layer = mix(static_cast<std::uint64_t>(*task.step), task.layer);
  const std::int64_t all = task.rows * task.row_elements,
                     stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < all;
       i += stride) {
    const std::int64_t row = i / task.row_elements;
    const std::uint64_t stream = mix(layer, static_cast<std::uint64_t>(task.samples[row]));
    const auto index = static_cast<std::uint64_t>(mask_index(task, i - row * task.row_elements));
    const float mask = word_of(task.seed, stream, index) < threshold ? 0.0f : kept;
    static_cast<Value*>(task.output)[i] = times(static_cast<const Value*>(task.input)[i], mask);
  }
}

template <class Value>
void launch(const DropoutTask& task, cudaStream_t stream) {
  const std::int64_t all = task.rows * task.row_elements;
  if (all == 0) return;
  const auto threshold = static_cast<std::uint32_t>(std::min(task.probability * 0x1p32, 4294967295.0));
  const auto kept = static_cast<float>(1.0 / (1.0 - task.probability));
  const auto blocks = static_cast<unsigned>(std::min(kMostBlocks, (all + kThreads - 1) / kThreads));
  apply_mask<Value><<<blocks, kThreads, 0, stream>>>(task, threshold, kept);
  check(cudaGetLastError(), "dropout");
}

}  // namespace

void dropout(const DropoutTask& task, cudaStream_t stream) {
  switch (task.element) {
    case DropoutElement::f32:
      return launch<float>(task, stream);
    case DropoutElement::f64:
      return launch<double>(task, stream);
    case DropoutElement::bf16:
      return launch<Bf16>(task, stream);
  }
}

}  // namespace lockstep::device::cuda
