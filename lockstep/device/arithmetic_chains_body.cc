// Compiled once per instruction set: LOCKSTEP_ISA names the copy, LOCKSTEP_VECTOR_BYTES is its vectors'
// width.
#include "lockstep/device/arithmetic_chains.h"

namespace lockstep::device::LOCKSTEP_ISA {
namespace {

template <class Value>
struct Chains {
  using Vector __attribute__((vector_size(LOCKSTEP_VECTOR_BYTES))) = Value;

  // Members instead of an array: they stay in registers.
  Vector a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{}, i{}, j{};

  void advance(Vector factor, Vector term) {
    a = a * factor + term;
    b = b * factor + term;
    c = c * factor + term;
    d = d * factor + term;
    e = e * factor + term;
    f = f * factor + term;
    g = g * factor + term;
    h = h * factor + term;
    i = i * factor + term;
    j = j * factor + term;
  }
};

// The chains start apart from each other and from one, where nothing would change, lest the compiler leave
// some out; they stay far from zero and infinity.
template <class Value>
double run(long rounds) {
  using Vector = typename Chains<Value>::Vector;
  const auto filled = [](double value) { return Vector{} + static_cast<Value>(value); };
  Chains<Value> chains{filled(0.1), filled(0.2), filled(0.3), filled(0.4), filled(0.5),
                       filled(0.6), filled(0.7), filled(0.8), filled(0.9), filled(1.1)};
  const Vector factor = filled(0.75);
  const Vector term = filled(0.25);
  for (long round = 0; round < rounds; ++round) chains.advance(factor, term);
  const Vector all = chains.a + chains.b + chains.c + chains.d + chains.e + chains.f + chains.g + chains.h +
                     chains.i + chains.j;
  return static_cast<double>(all[0]);
}

}  // namespace

extern const ArithmeticChains kArithmeticChains;
const ArithmeticChains kArithmeticChains{LOCKSTEP_VECTOR_BYTES, run<float>, run<double>};

}  // namespace lockstep::device::LOCKSTEP_ISA
