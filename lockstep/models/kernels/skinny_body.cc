// LOCKSTEP_ISA names the instruction set this copy is compiled for, LOCKSTEP_LANES the floats of its vectors.
#include "lockstep/models/kernels/skinny.h"

namespace lockstep::models::kernels {
namespace {

using Index = std::int64_t;

constexpr Index kLanes = LOCKSTEP_LANES;
// Vectors that may lie anywhere.
using Vector = float __attribute__((vector_size(kLanes * sizeof(float)), aligned(4), may_alias));
using Places = std::int32_t __attribute__((vector_size(kLanes * sizeof(std::int32_t))));

// A tile holds kGroup * kWide sums in registers: 24 of 32 with AVX-512, 12 of 16 otherwise.
constexpr Index kGroup = kLanes == 16 ? 8 : 4;
constexpr Index kWide = 3;
// Of dot products fewer rows and more outputs: the rows come from the second cache, the weight from the
// first.
constexpr Index kDotGroup = 4;
constexpr Index kDotWide = kLanes == 16 ? 6 : 3;
// The part of a panel that a block of the loops passes over again and again stays in the second cache.
constexpr Index kCacheFloats = 64 * 1024;
// Outputs that one pass over a block of x's gradient adds: no more, because rows of the weight may all fall
// into the same places of the first cache.
constexpr Index kDeep = 16;

inline Vector load(const float* from) {
  return *reinterpret_cast<const Vector*>(from);
}
inline void store(float* to, Vector value) {
  *reinterpret_cast<Vector*>(to) = value;
}
inline Index least(Index one, Index other) {
  return one < other ? one : other;
}
inline Vector load_part(const float* from, Index count) {
  Vector value = {};
  for (Index lane = 0; lane < count; ++lane) value[lane] = from[lane];
  return value;
}
inline void store_part(float* to, Vector value, Index count) {
  for (Index lane = 0; lane < count; ++lane) to[lane] = value[lane];
}

inline float sum_of(Vector value) {
#pragma GCC unroll 8
  for (Index step = kLanes / 2; step > 0; step /= 2) {
    Places places;
#pragma GCC unroll 16
    for (Index lane = 0; lane < kLanes; ++lane) places[lane] = static_cast<std::int32_t>(lane ^ step);
    value += __builtin_shuffle(value, places);
  }
  return value[0];
}

// Vectors of a panel that stay in the cache together.
Index block_of(Index rows) {
  const Index block = kCacheFloats / kLanes / (rows < 1 ? 1 : rows);
  return block < kWide ? kWide : block / kWide * kWide;
}

// Calls work with the size 1..Most that count allows: tiles are compiled per size.
template <Index Most, class Work>
inline void with_size(Index count, const Work& work) {
  if (count >= Most) {
    work.template operator()<Most>();
  } else if constexpr (Most > 1) {
    with_size<Most - 1>(count, work);
  }
}

void pack(const SkinnyShape& shape, const float* rows, float* panel) {
  for (Index k = 0; k < shape.in; k += kLanes) {
    const Index count = least(kLanes, shape.in - k);
    for (Index r = 0; r < shape.rows; ++r, panel += kLanes) {
      const float* from = rows + r * shape.in + k;
      store(panel, count == kLanes ? load(from) : load_part(from, count));
    }
  }
}

void unpack(const SkinnyShape& shape, const float* panel, float* rows) {
  for (Index k = 0; k < shape.in; k += kLanes) {
    const Index count = least(kLanes, shape.in - k);
    for (Index r = 0; r < shape.rows; ++r, panel += kLanes) {
      float* to = rows + r * shape.in + k;
      count == kLanes ? store(to, load(panel)) : store_part(to, load(panel), count);
    }
  }
}

// The block of a forward product: vectors of the panel, and what is left of a weight's row behind the whole
// ones.
struct Depth {
  Index vectors, rest;
};

template <Index Rows, Index Outs>
inline void dot_step(Vector (&sums)[Rows][Outs], const float* panel, const Vector (&w)[Outs]) {
#pragma GCC unroll 8
  for (Index r = 0; r < Rows; ++r) {
    const Vector value = load(panel + r * kLanes);
#pragma GCC unroll 8
    for (Index o = 0; o < Outs; ++o) sums[r][o] += value * w[o];
  }
}

// y[r][o] += dot products of Rows rows of the panel and Outs rows of the weight. The first tile of a block
// asks for the rows of the next one.
template <Index Rows, Index Outs>
void dot_tile(const SkinnyShape& shape, const float* panel, const float* weight, Depth depth, bool first,
              float* y) {
  Vector sums[Rows][Outs] = {};
  for (Index v = 0; v < depth.vectors; ++v, panel += shape.rows * kLanes) {
    Vector w[Outs];
#pragma GCC unroll 8
    for (Index o = 0; o < Outs; ++o) {
      w[o] = load(weight + o * shape.in + v * kLanes);
      if (first) __builtin_prefetch(weight + (Outs + o) * shape.in + v * kLanes, 0, 2);
    }
    dot_step(sums, panel, w);
  }
  if (depth.rest > 0) {
    Vector w[Outs];
    for (Index o = 0; o < Outs; ++o)
      w[o] = load_part(weight + o * shape.in + depth.vectors * kLanes, depth.rest);
    dot_step(sums, panel, w);
  }
#pragma GCC unroll 8
  for (Index r = 0; r < Rows; ++r)
#pragma GCC unroll 8
    for (Index o = 0; o < Outs; ++o) y[r * shape.out + o] += sum_of(sums[r][o]);
}

void forward(const SkinnyShape& shape, const float* panel, const float* weight, float* y, Index begin,
             Index end) {
  const Index whole = shape.in / kLanes, block = block_of(shape.rows);
  for (Index v = 0; v * kLanes < shape.in; v += block) {
    const bool last = (v + block) * kLanes >= shape.in;
    const Depth depth{last ? whole - v : block, last ? shape.in % kLanes : 0};
    for (Index o = begin; o < end; o += kDotWide) {
      with_size<kDotWide>(end - o, [&]<Index Outs>() {
        for (Index r = 0; r < shape.rows; r += kDotGroup) {
          with_size<kDotGroup>(shape.rows - r, [&]<Index Rows>() {
            dot_tile<Rows, Outs>(shape, panel + (v * shape.rows + r) * kLanes,
                                 weight + o * shape.in + v * kLanes, depth, r == 0, y + r * shape.out + o);
          });
        }
      });
    }
  }
}

// sums[r][v] += factors[r] * values[v]
template <Index Rows, Index Wide>
inline void outer_step(Vector (&sums)[Rows][Wide], const float* factors, Index stride,
                       const Vector (&values)[Wide]) {
#pragma GCC unroll 8
  for (Index r = 0; r < Rows; ++r) {
    const float factor = factors[r * stride];
#pragma GCC unroll 8
    for (Index v = 0; v < Wide; ++v) sums[r][v] += factor * values[v];
  }
}

// Rows rows of the gradient's panel, Wide vectors of it, over `depth` outputs.
template <Index Rows, Index Wide>
void input_tile(const SkinnyShape& shape, const float* turned, const float* weight, Index depth, Index rest,
                bool fresh, float* panel) {
  const Index stride = shape.rows * kLanes;
  Vector sums[Rows][Wide] = {};
  if (!fresh) {
#pragma GCC unroll 8
    for (Index r = 0; r < Rows; ++r)
#pragma GCC unroll 8
      for (Index v = 0; v < Wide; ++v) sums[r][v] = load(panel + v * stride + r * kLanes);
  }
  for (Index o = 0; o < depth; ++o, turned += shape.rows, weight += shape.in) {
    Vector values[Wide];
#pragma GCC unroll 8
    for (Index v = 0; v < Wide; ++v)
      values[v] = rest == 0 ? load(weight + v * kLanes) : load_part(weight, rest);
    outer_step(sums, turned, 1, values);
  }
#pragma GCC unroll 8
  for (Index r = 0; r < Rows; ++r)
#pragma GCC unroll 8
    for (Index v = 0; v < Wide; ++v) store(panel + v * stride + r * kLanes, sums[r][v]);
}

// `count` vectors of all rows of the gradient's panel, over `depth` outputs.
void input_block(const SkinnyShape& shape, const float* turned, const float* weight, Index depth, Index rest,
                 bool fresh, Index count, float* panel) {
  for (Index v = 0; v < count;) {
    with_size<kWide>(count - v, [&]<Index Wide>() {
      for (Index r = 0; r < shape.rows; r += kGroup) {
        with_size<kGroup>(shape.rows - r, [&]<Index Rows>() {
          input_tile<Rows, Wide>(shape, turned + r, weight + v * kLanes, depth, rest, fresh,
                                 panel + (v * shape.rows + r) * kLanes);
        });
      }
      v += Wide;
    });
  }
}

void input_gradient(const SkinnyShape& shape, const float* turned, const float* weight, float* panel,
                    Index begin, Index end) {
  const Index block = block_of(shape.rows), rest = shape.in % kLanes;
  const Index whole = least(end, shape.in / kLanes);
  for (Index o = 0; o < shape.out && end > whole; o += kDeep) {
    input_block(shape, turned + o * shape.rows, weight + o * shape.in + whole * kLanes,
                least(kDeep, shape.out - o), rest, o == 0, 1, panel + whole * shape.rows * kLanes);
  }
  for (Index v = begin; v < whole; v += block) {
    for (Index o = 0; o < shape.out; o += kDeep) {
      input_block(shape, turned + o * shape.rows, weight + o * shape.in + v * kLanes,
                  least(kDeep, shape.out - o), 0, o == 0, least(block, whole - v),
                  panel + v * shape.rows * kLanes);
    }
  }
}

// Outs rows of the weight's gradient, Wide vectors of them, over all rows of the batch.
template <Index Outs, Index Wide>
void weight_tile(const SkinnyShape& shape, const float* turned, const float* panel, bool accumulate,
                 Index rest, float* gradient) {
  const Index stride = shape.rows * kLanes;
  Vector sums[Outs][Wide] = {};
  for (Index r = 0; r < shape.rows; ++r) {
    Vector values[Wide];
#pragma GCC unroll 8
    for (Index v = 0; v < Wide; ++v) values[v] = load(panel + v * stride + r * kLanes);
    outer_step(sums, turned + r, shape.rows, values);
  }
#pragma GCC unroll 8
  for (Index o = 0; o < Outs; ++o) {
#pragma GCC unroll 8
    for (Index v = 0; v < Wide; ++v) {
      float* to = gradient + o * shape.in + v * kLanes;
      if (rest > 0) {
        store_part(to, accumulate ? load_part(to, rest) + sums[o][v] : sums[o][v], rest);
      } else {
        store(to, accumulate ? load(to) + sums[o][v] : sums[o][v]);
      }
    }
  }
}

template <Index Outs>
void weight_rows(const SkinnyShape& shape, const float* turned, const float* panel, bool accumulate,
                 Index begin, Index end, float* gradient) {
  const Index whole = least(end, shape.in / kLanes);
  for (Index v = begin; v < whole;) {
    with_size<kWide>(whole - v, [&]<Index Wide>() {
      weight_tile<Outs, Wide>(shape, turned, panel + v * shape.rows * kLanes, accumulate, 0,
                              gradient + v * kLanes);
      v += Wide;
    });
  }
  if (whole < end) {
    weight_tile<Outs, 1>(shape, turned, panel + whole * shape.rows * kLanes, accumulate, shape.in % kLanes,
                         gradient + whole * kLanes);
  }
}

void weight_gradient(const SkinnyShape& shape, const float* turned, const float* panel, float* gradient,
                     bool accumulate, Index begin, Index end) {
  const Index vectors = skinny_vectors(shape, kLanes), block = block_of(shape.rows);
  for (Index v = 0; v < vectors; v += block) {
    for (Index o = begin; o < end; o += kGroup) {
      with_size<kGroup>(end - o, [&]<Index Outs>() {
        weight_rows<Outs>(shape, turned + o * shape.rows, panel, accumulate, v, least(vectors, v + block),
                          gradient + o * shape.in);
      });
    }
  }
}

}  // namespace

namespace LOCKSTEP_ISA {
extern const SkinnyKernels kSkinny;
const SkinnyKernels kSkinny = {kLanes, &pack, &unpack, &forward, &input_gradient, &weight_gradient};
}  // namespace LOCKSTEP_ISA

}  // namespace lockstep::models::kernels
