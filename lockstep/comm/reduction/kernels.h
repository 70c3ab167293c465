// The interface between reduction.cc and its kernels, which are compiled once per instruction set from
// kernels.inc. It includes nothing: an inline function of a library compiled for AVX-512 here could be the
// one the linker keeps for all.
#pragma once

namespace lockstep::comm::kernels {

// outputs[m][...] and inputs[n][...], n >= 1; see reduce_ranks().
using ReduceFunction = void (*)(void* const* outputs, int m, const void* const* inputs, int n,
                                unsigned long count);
using DivideFunction = void (*)(void* data, unsigned long count, int divisor);
using NarrowFunction = void (*)(unsigned short* to, const float* from, unsigned long count);
using WidenFunction = void (*)(float* to, const unsigned short* from, unsigned long count);

struct Table {
  ReduceFunction reduce[4][7];  // by ReduceOp and ElementType
  DivideFunction divide[7];     // by ElementType
  NarrowFunction narrow[7];     // by ElementType; null but for 16-bit floats
  WidenFunction widen[7];       // likewise
  const char* name;
};

const Table& baseline();
// On x86-64 only.
const Table& avx2();
const Table& avx512();

// Those that this processor can run, the fastest last; returns how many. In usable_x86.cc or usable_other.cc,
// as CMakeLists.txt chooses.
inline constexpr int kMostTables = 3;
int usable(const Table* (&tables)[kMostTables]);

}  // namespace lockstep::comm::kernels
