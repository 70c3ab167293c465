// LOCKSTEP_ISA names the instruction set this copy is compiled for, LOCKSTEP_LANES the floats of its vectors.
//
// Rows are cut into pieces of as many windows as a vector has lanes; the last piece begins earlier, so that
// it ends with the row, and does some windows a second time. Short rows take shorter vectors.
#include "lockstep/models/kernels/pool.h"

namespace lockstep::models::kernels {
namespace {

using Index = std::int64_t;

// Spelt out, because the compiler takes no vector_size that depends on a parameter.
template <Index Lanes>
struct Vectors;
template <>
struct Vectors<16> {
  using Floats = float __attribute__((vector_size(64), aligned(4), may_alias));
  using Numbers = std::int32_t __attribute__((vector_size(64)));
  using Bytes = std::uint8_t __attribute__((vector_size(16), aligned(1), may_alias));
};
template <>
struct Vectors<8> {
  using Floats = float __attribute__((vector_size(32), aligned(4), may_alias));
  using Numbers = std::int32_t __attribute__((vector_size(32)));
  using Bytes = std::uint8_t __attribute__((vector_size(8), aligned(1), may_alias));
};
template <>
struct Vectors<4> {
  using Floats = float __attribute__((vector_size(16), aligned(4), may_alias));
  using Numbers = std::int32_t __attribute__((vector_size(16)));
  using Bytes = std::uint8_t __attribute__((vector_size(4), aligned(1), may_alias));
};

template <Index Lanes>
struct Piece {
  using Floats = typename Vectors<Lanes>::Floats;
  using Numbers = typename Vectors<Lanes>::Numbers;
  using Bytes = typename Vectors<Lanes>::Bytes;

  static Floats load(const float* from) { return *reinterpret_cast<const Floats*>(from); }
  static void store(float* to, Floats value) { *reinterpret_cast<Floats*>(to) = value; }

  // The even (first = 0) or odd (first = 1) values of 2 * Lanes.
  static Floats every_second(const float* from, std::int32_t first) {
    Numbers places;
    for (Index lane = 0; lane < Lanes; ++lane) places[lane] = static_cast<std::int32_t>(2 * lane) + first;
    return __builtin_shuffle(load(from), load(from + Lanes), places);
  }

  static void take_larger(Floats value, std::int32_t place, Floats& best, Numbers& places) {
    const Numbers larger = (value > best) | (value != value);
    best = larger ? value : best;
    places = larger ? Numbers{} + place : places;
  }

  static void forward(const float* top, const float* bottom, float* out, std::uint8_t* place) {
    Floats best = every_second(top, 0);
    Numbers places = {};
    take_larger(every_second(top, 1), 1, best, places);
    take_larger(every_second(bottom, 0), 2, best, places);
    take_larger(every_second(bottom, 1), 3, best, places);
    store(out, best);
    *reinterpret_cast<Bytes*>(place) = __builtin_convertvector(places, Bytes);
  }

  // Puts the gradient where the place is `first` (even values) or `first + 1` (odd values), zero elsewhere.
  static void spread(Floats gradient, Numbers places, std::int32_t first, float* to) {
    const Floats even = places == first ? gradient : Floats{};
    const Floats odd = places == first + 1 ? gradient : Floats{};
    Numbers low, high;
    for (Index lane = 0; lane < Lanes; ++lane) {
      low[lane] = static_cast<std::int32_t>(lane / 2 + (lane % 2) * Lanes);
      high[lane] = low[lane] + static_cast<std::int32_t>(Lanes / 2);
    }
    store(to, __builtin_shuffle(even, odd, low));
    store(to + Lanes, __builtin_shuffle(even, odd, high));
  }

  static void backward(const float* out_gradient, const std::uint8_t* place, float* top, float* bottom) {
    const Floats gradient = load(out_gradient);
    const Numbers places = __builtin_convertvector(*reinterpret_cast<const Bytes*>(place), Numbers);
    spread(gradient, places, 0, top);
    spread(gradient, places, 2, bottom);
  }
};

// One window, for rows shorter than any vector.
template <>
struct Piece<1> {
  static void forward(const float* top, const float* bottom, float* out, std::uint8_t* place) {
    const float values[4] = {top[0], top[1], bottom[0], bottom[1]};
    std::uint8_t best = 0;
    for (std::uint8_t i = 1; i < 4; ++i) {
      if (values[i] > values[best] || values[i] != values[i]) best = i;
    }
    *out = values[best];
    *place = best;
  }
  static void backward(const float* gradient, const std::uint8_t* place, float* top, float* bottom) {
    for (std::uint8_t i = 0; i < 2; ++i) {
      top[i] = *place == i ? *gradient : 0.0F;
      bottom[i] = *place == i + 2 ? *gradient : 0.0F;
    }
  }
};

// Calls work(first window) for every piece of a row of `windows` windows.
template <Index Lanes, class Work>
inline void for_pieces(Index windows, const Work& work) {
  for (Index x = 0; x < windows; x += Lanes) work(x + Lanes <= windows ? x : windows - Lanes);
}

template <Index Lanes>
void forward_rows(const PoolShape& shape, const float* in, float* out, std::uint8_t* place) {
  const Index rows = shape.height / 2, windows = shape.width / 2;
  for (Index plane = 0; plane < shape.planes; ++plane, in += shape.height * shape.width) {
    for (Index y = 0; y < rows; ++y, out += windows, place += windows) {
      const float* top = in + 2 * y * shape.width;
      for_pieces<Lanes>(windows, [&](Index x) {
        Piece<Lanes>::forward(top + 2 * x, top + shape.width + 2 * x, out + x, place + x);
      });
    }
  }
}

void clear_edges(const PoolShape& shape, float* plane) {
  if (shape.width % 2 == 1) {
    for (Index y = 0; y < shape.height; ++y) plane[y * shape.width + shape.width - 1] = 0.0F;
  }
  if (shape.height % 2 == 1) {
    for (Index x = 0; x < shape.width; ++x) plane[(shape.height - 1) * shape.width + x] = 0.0F;
  }
}

template <Index Lanes>
void backward_rows(const PoolShape& shape, const float* out_gradient, const std::uint8_t* place,
                   float* in_gradient) {
  const Index rows = shape.height / 2, windows = shape.width / 2;
  for (Index plane = 0; plane < shape.planes; ++plane, in_gradient += shape.height * shape.width) {
    for (Index y = 0; y < rows; ++y, out_gradient += windows, place += windows) {
      float* top = in_gradient + 2 * y * shape.width;
      for_pieces<Lanes>(windows, [&](Index x) {
        Piece<Lanes>::backward(out_gradient + x, place + x, top + 2 * x, top + shape.width + 2 * x);
      });
    }
    clear_edges(shape, in_gradient);
  }
}

void forward(const PoolShape& shape, const float* in, float* out, std::uint8_t* place) {
  const Index windows = shape.width / 2;
  if (windows >= 16 && LOCKSTEP_LANES >= 16) return forward_rows<16>(shape, in, out, place);
  if (windows >= 8 && LOCKSTEP_LANES >= 8) return forward_rows<8>(shape, in, out, place);
  if (windows >= 4) return forward_rows<4>(shape, in, out, place);
  forward_rows<1>(shape, in, out, place);
}

void backward(const PoolShape& shape, const float* out_gradient, const std::uint8_t* place,
              float* in_gradient) {
  const Index windows = shape.width / 2;
  if (windows >= 16 && LOCKSTEP_LANES >= 16)
    return backward_rows<16>(shape, out_gradient, place, in_gradient);
  if (windows >= 8 && LOCKSTEP_LANES >= 8) return backward_rows<8>(shape, out_gradient, place, in_gradient);
  if (windows >= 4) return backward_rows<4>(shape, out_gradient, place, in_gradient);
  backward_rows<1>(shape, out_gradient, place, in_gradient);
}

}  // namespace

namespace LOCKSTEP_ISA {
extern const PoolKernels kPool;
const PoolKernels kPool = {&forward, &backward};
}  // namespace LOCKSTEP_ISA

}  // namespace lockstep::models::kernels
