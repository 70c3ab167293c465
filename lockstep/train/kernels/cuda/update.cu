// Compiled without contraction to fused operations (-fmad=false), as the CPU's kernels are: memory is the
// limit, not arithmetic.
#include <algorithm>

#include "lockstep/device/cuda/cuda_error.h"
#include "lockstep/train/kernels/cuda/update_cuda.h"

namespace lockstep::train::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kWide = 4;  // elements that are read and written together
constexpr int kBlockElements = kThreads * kWide * 4;
constexpr int kPackTensors = 72;  // so that a pack fits into a kernel's arguments (4 KiB)

// Tensors that one launch updates.
struct Pack {
  Stretch stretches[kPackTensors];
  std::uint32_t first_block[kPackTensors + 1];
  std::uint32_t count;
};
static_assert(sizeof(Pack) + sizeof(void*) <= 4096);

struct Bf16 {
  unsigned short bits;
};

template <class Value>
struct Form {
  using Real = Value;
  __device__ static Real read(Value value) { return value; }
  __device__ static Value write(Real real) { return real; }
};

template <>
struct Form<Bf16> {
  using Real = float;
  __device__ static float read(Bf16 value) {
    return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
  }
  // To the nearest, ties to even; a NaN stays one.
  __device__ static Bf16 write(float real) {
    const unsigned bits = __float_as_uint(real);
    const unsigned nearest = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    return {static_cast<unsigned short>(real != real ? 0x7fc0u : nearest)};
  }
};

__device__ inline float square_root(float x) {
  return sqrtf(x);
}
__device__ inline double square_root(double x) {
  return sqrt(x);
}

template <bool kDecay, bool kMomentum, bool kNesterov>
struct Descent {
  using Factors = SgdFactors;
  static constexpr bool kFirst = kMomentum;
  static constexpr bool kSecond = false;

  template <class Real>
  struct With {
    Real rate, decay, keep;
    __device__ explicit With(const Factors& factors)
        : rate(static_cast<Real>(factors.learning_rate)),
          decay(static_cast<Real>(factors.weight_decay)),
          keep(static_cast<Real>(factors.momentum)) {}

    __device__ void operator()(Real& weight, Real slope, Real& first, Real&) const {
      if constexpr (kDecay) slope = slope + decay * weight;
      if constexpr (!kMomentum) {
        weight = weight - rate * slope;
      } else {
        first = keep * first + slope;
        weight = weight - rate * (kNesterov ? slope + keep * first : first);
      }
    }
  };
};

template <bool kDecay>
struct Adaption {
  using Factors = AdamFactors;
  static constexpr bool kFirst = true;
  static constexpr bool kSecond = true;

  template <class Real>
  struct With {
    Real keep, decay, beta1, rest1, beta2, rest2, step_size, root_correction, epsilon;
    __device__ explicit With(const Factors& factors)
        : keep(static_cast<Real>(factors.keep)),
          decay(static_cast<Real>(factors.weight_decay)),
          beta1(static_cast<Real>(factors.beta1)),
          rest1(static_cast<Real>(1 - factors.beta1)),
          beta2(static_cast<Real>(factors.beta2)),
          rest2(static_cast<Real>(1 - factors.beta2)),
          step_size(static_cast<Real>(factors.step_size)),
          root_correction(static_cast<Real>(factors.root_correction)),
          epsilon(static_cast<Real>(factors.epsilon)) {}

    __device__ void operator()(Real& weight, Real slope, Real& first, Real& second) const {
      const Real kept = weight * keep;
      if constexpr (kDecay) slope = slope + decay * kept;
      first = beta1 * first + rest1 * slope;
      second = beta2 * second + rest2 * slope * slope;
      weight = kept - step_size * (first / (square_root(second) / root_correction + epsilon));
    }
  };
};

// kWidth neighbours, moved by one instruction where they lie as they should.
template <class T, int kWidth>
struct alignas(sizeof(T) * kWidth) Some {
  T at[kWidth];
};

template <class T, int kWidth>
__device__ Some<T, kWidth> load(const void* from, std::int64_t index) {
  return *reinterpret_cast<const Some<T, kWidth>*>(static_cast<const T*>(from) + index);
}
template <class T, int kWidth>
__device__ void store(void* to, std::int64_t index, const Some<T, kWidth>& values) {
  *reinterpret_cast<Some<T, kWidth>*>(static_cast<T*>(to) + index) = values;
}

template <class Value, class Rule, int kWidth>
__device__ void update_some(const Stretch& stretch, std::int64_t index,
                            const typename Rule::template With<typename Form<Value>::Real>& rule) {
  using Real = typename Form<Value>::Real;
  auto weight = load<Real, kWidth>(stretch.weight, index);
  const auto gradient = load<Value, kWidth>(stretch.gradient, index);
  Some<Real, kWidth> first{}, second{};
  if constexpr (Rule::kFirst) first = load<Real, kWidth>(stretch.first, index);
  if constexpr (Rule::kSecond) second = load<Real, kWidth>(stretch.second, index);
  for (int i = 0; i < kWidth; ++i)
    rule(weight.at[i], Form<Value>::read(gradient.at[i]), first.at[i], second.at[i]);
  store(stretch.weight, index, weight);
  if constexpr (Rule::kFirst) store(stretch.first, index, first);
  if constexpr (Rule::kSecond) store(stretch.second, index, second);
  if constexpr (sizeof(Value) != sizeof(Real)) {
    Some<Value, kWidth> rounded;
    for (int i = 0; i < kWidth; ++i) rounded.at[i] = Form<Value>::write(weight.at[i]);
    store(stretch.rounded, index, rounded);
  }
}

template <class Value>
__device__ bool aligned(const Stretch& stretch) {
  using Real = typename Form<Value>::Real;
  const auto at = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
  const std::uintptr_t reals = at(stretch.weight) | at(stretch.first) | at(stretch.second);
  const std::uintptr_t values = at(stretch.gradient) | at(stretch.rounded);
  return reals % (sizeof(Real) * kWide) == 0 && values % (sizeof(Value) * kWide) == 0;
}

// The tensor that this block works on.
__device__ std::uint32_t tensor_of_block(const Pack& pack) {
  std::uint32_t low = 0, high = pack.count;
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    (pack.first_block[middle] <= blockIdx.x ? low : high) = middle;
  }
  return low;
}

template <class Value, class Rule>
__global__ void __launch_bounds__(kThreads) update(const Pack pack, const typename Rule::Factors* factors) {
  const std::uint32_t tensor = tensor_of_block(pack);
  const Stretch& stretch = pack.stretches[tensor];
  const typename Rule::template With<typename Form<Value>::Real> rule(*factors);
  const std::int64_t begin =
      static_cast<std::int64_t>(blockIdx.x - pack.first_block[tensor]) * kBlockElements;
  const std::int64_t end = min(begin + kBlockElements, stretch.count);
  const std::int64_t wide_end = aligned<Value>(stretch) ? begin + (end - begin) / kWide * kWide : begin;
  for (std::int64_t i = begin + threadIdx.x * kWide; i < wide_end; i += kThreads * kWide)
    update_some<Value, Rule, kWide>(stretch, i, rule);
  for (std::int64_t i = wide_end + threadIdx.x; i < end; i += kThreads)
    update_some<Value, Rule, 1>(stretch, i, rule);
}

std::uint32_t blocks_of(const Stretch& stretch) {
  return static_cast<std::uint32_t>((stretch.count + kBlockElements - 1) / kBlockElements);
}

template <class Value, class Rule>
void launch(const Pack& pack, const typename Rule::Factors* factors, cudaStream_t stream) {
  const std::uint32_t blocks = pack.first_block[pack.count];
  if (blocks == 0) return;
  update<Value, Rule><<<blocks, kThreads, 0, stream>>>(pack, factors);
  device::cuda::check(cudaGetLastError(), "updating the weights");
}

template <class Value, class Rule>
void update_all(const Stretch* stretches, std::size_t count, const typename Rule::Factors* factors,
                cudaStream_t stream) {
  Pack pack{};
  for (std::size_t begin = 0; begin < count; begin += kPackTensors) {
    pack.count = static_cast<std::uint32_t>(std::min<std::size_t>(kPackTensors, count - begin));
    for (std::uint32_t i = 0; i < pack.count; ++i) {
      pack.stretches[i] = stretches[begin + i];
      pack.first_block[i + 1] = pack.first_block[i] + blocks_of(pack.stretches[i]);
    }
    launch<Value, Rule>(pack, factors, stream);
  }
}

template <class Rule>
void update_typed(Element element, const Stretch* stretches, std::size_t count,
                  const typename Rule::Factors* factors, cudaStream_t stream) {
  switch (element) {
    case Element::f32:
      return update_all<float, Rule>(stretches, count, factors, stream);
    case Element::f64:
      return update_all<double, Rule>(stretches, count, factors, stream);
    case Element::bf16:
      return update_all<Bf16, Rule>(stretches, count, factors, stream);
  }
}

}  // namespace

void update_on_device(Element element, const Stretch* stretches, std::size_t count, const SgdFactors& host,
                      const SgdFactors* device, cudaStream_t stream) {
  const bool decays = host.weight_decay != 0;
  if (host.momentum == 0) {
    decays ? update_typed<Descent<true, false, false>>(element, stretches, count, device, stream)
           : update_typed<Descent<false, false, false>>(element, stretches, count, device, stream);
  } else if (host.nesterov) {
    decays ? update_typed<Descent<true, true, true>>(element, stretches, count, device, stream)
           : update_typed<Descent<false, true, true>>(element, stretches, count, device, stream);
  } else {
    decays ? update_typed<Descent<true, true, false>>(element, stretches, count, device, stream)
           : update_typed<Descent<false, true, false>>(element, stretches, count, device, stream);
  }
}

void update_on_device(Element element, const Stretch* stretches, std::size_t count, const AdamFactors& host,
                      const AdamFactors* device, cudaStream_t stream) {
  host.weight_decay != 0 ? update_typed<Adaption<true>>(element, stretches, count, device, stream)
                         : update_typed<Adaption<false>>(element, stretches, count, device, stream);
}

}  // namespace lockstep::train::kernels
