// LOCKSTEP_ISA names the instruction set this copy is compiled for.
#include "lockstep/train/kernels/update.h"

namespace lockstep::train::kernels {
namespace {

using Index = std::int64_t;

struct Bf16 {
  std::uint16_t bits;
};

// How an element is read as a real and written back.
template <class Value>
struct Form {
  using Real = Value;
  static Real read(Value value) { return value; }
  static Value write(Real real) { return real; }
};

template <>
struct Form<Bf16> {
  using Real = float;
  static float read(Bf16 value) {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(value.bits) << 16);
  }
  // To the nearest, ties to even; a NaN stays one.
  static Bf16 write(float real) {
    const auto bits = __builtin_bit_cast(std::uint32_t, real);
    const std::uint32_t nearest = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    return {static_cast<std::uint16_t>(real != real ? 0x7fc0U : nearest)};
  }
};

inline float square_root(float x) {
  return __builtin_sqrtf(x);
}
inline double square_root(double x) {
  return __builtin_sqrt(x);
}

// A stretch with its types.
template <class Value>
struct Arrays {
  using Real = typename Form<Value>::Real;
  explicit Arrays(const Stretch& stretch)
      : weight(static_cast<Real*>(stretch.weight)),
        gradient(static_cast<const Value*>(stretch.gradient)),
        first(static_cast<Real*>(stretch.first)),
        second(static_cast<Real*>(stretch.second)) {}
  Real* __restrict weight;
  const Value* __restrict gradient;
  Real* __restrict first;
  Real* __restrict second;
};

// Where weights are kept apart: the tensor becomes what they round to.
template <class Value>
void round_weights(const Stretch& stretch) {
  if constexpr (!__is_same(Value, typename Form<Value>::Real)) {
    const auto* __restrict weight = static_cast<const typename Form<Value>::Real*>(stretch.weight);
    auto* __restrict rounded = static_cast<Value*>(stretch.rounded);
    for (Index i = 0; i < stretch.count; ++i) rounded[i] = Form<Value>::write(weight[i]);
  }
}

template <class Value, bool kDecay>
void descend(const SgdFactors& factors, const Stretch& stretch) {
  using Real = typename Form<Value>::Real;
  const Arrays<Value> at(stretch);
  const Real rate = static_cast<Real>(factors.learning_rate), decay = static_cast<Real>(factors.weight_decay);
  for (Index i = 0; i < stretch.count; ++i) {
    Real slope = Form<Value>::read(at.gradient[i]);
    if constexpr (kDecay) slope = slope + decay * at.weight[i];
    at.weight[i] = at.weight[i] - rate * slope;
  }
}

template <class Value, bool kDecay, bool kNesterov>
void descend_with_momentum(const SgdFactors& factors, const Stretch& stretch) {
  using Real = typename Form<Value>::Real;
  const Arrays<Value> at(stretch);
  const Real rate = static_cast<Real>(factors.learning_rate), decay = static_cast<Real>(factors.weight_decay);
  const Real keep = static_cast<Real>(factors.momentum);
  for (Index i = 0; i < stretch.count; ++i) {
    Real slope = Form<Value>::read(at.gradient[i]);
    if constexpr (kDecay) slope = slope + decay * at.weight[i];
    const Real momentum = keep * at.first[i] + slope;
    at.first[i] = momentum;
    at.weight[i] = at.weight[i] - rate * (kNesterov ? slope + keep * momentum : momentum);
  }
}

template <class Value, bool kDecay>
void choose_sgd(const SgdFactors& factors, const Stretch& stretch) {
  if (factors.momentum == 0) {
    descend<Value, kDecay>(factors, stretch);
  } else if (factors.nesterov) {
    descend_with_momentum<Value, kDecay, true>(factors, stretch);
  } else {
    descend_with_momentum<Value, kDecay, false>(factors, stretch);
  }
}

template <class Value>
void sgd(const SgdFactors& factors, const Stretch& stretch) {
  if (factors.weight_decay == 0) {
    choose_sgd<Value, false>(factors, stretch);
  } else {
    choose_sgd<Value, true>(factors, stretch);
  }
  round_weights<Value>(stretch);
}

template <class Value, bool kDecay>
void adapt(const AdamFactors& factors, const Stretch& stretch) {
  using Real = typename Form<Value>::Real;
  const Arrays<Value> at(stretch);
  const Real keep = static_cast<Real>(factors.keep), decay = static_cast<Real>(factors.weight_decay);
  const Real beta1 = static_cast<Real>(factors.beta1), rest1 = static_cast<Real>(1 - factors.beta1);
  const Real beta2 = static_cast<Real>(factors.beta2), rest2 = static_cast<Real>(1 - factors.beta2);
  const Real step_size = static_cast<Real>(factors.step_size), epsilon = static_cast<Real>(factors.epsilon);
  const Real root_correction = static_cast<Real>(factors.root_correction);
  for (Index i = 0; i < stretch.count; ++i) {
    const Real weight = at.weight[i] * keep;
    Real slope = Form<Value>::read(at.gradient[i]);
    if constexpr (kDecay) slope = slope + decay * weight;
    const Real first = beta1 * at.first[i] + rest1 * slope;
    const Real second = beta2 * at.second[i] + rest2 * slope * slope;
    at.first[i] = first;
    at.second[i] = second;
    at.weight[i] = weight - step_size * (first / (square_root(second) / root_correction + epsilon));
  }
}

template <class Value>
void adam(const AdamFactors& factors, const Stretch& stretch) {
  if (factors.weight_decay == 0) {
    adapt<Value, false>(factors, stretch);
  } else {
    adapt<Value, true>(factors, stretch);
  }
  round_weights<Value>(stretch);
}

template <class Value>
double square_sum(const void* values, Index count) {
  constexpr Index kLanes = 16;
  const auto* __restrict from = static_cast<const Value*>(values);
  double lanes[kLanes] = {};
  const Index whole = count / kLanes * kLanes;
  for (Index i = 0; i < whole; i += kLanes) {
    for (Index lane = 0; lane < kLanes; ++lane) {
      const double value = static_cast<double>(Form<Value>::read(from[i + lane]));
      lanes[lane] += value * value;
    }
  }
  for (Index i = whole; i < count; ++i) {
    const double value = static_cast<double>(Form<Value>::read(from[i]));
    lanes[i - whole] += value * value;
  }
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

template <class Value>
void scale(void* values, double factor, Index count) {
  using Real = typename Form<Value>::Real;
  auto* __restrict at = static_cast<Value*>(values);
  const Real by = static_cast<Real>(factor);
  for (Index i = 0; i < count; ++i) at[i] = Form<Value>::write(Form<Value>::read(at[i]) * by);
}

}  // namespace

namespace LOCKSTEP_ISA {
extern const UpdateKernels kUpdate;
const UpdateKernels kUpdate = {
    {&sgd<float>, &sgd<double>, &sgd<Bf16>},
    {&adam<float>, &adam<double>, &adam<Bf16>},
    {&square_sum<float>, &square_sum<double>, &square_sum<Bf16>},
    {&scale<float>, &scale<double>, &scale<Bf16>},
};
}  // namespace LOCKSTEP_ISA

}  // namespace lockstep::train::kernels
