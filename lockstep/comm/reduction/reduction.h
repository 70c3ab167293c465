// Element-wise reductions of host memory, vectorised for the processor the program finds itself on.
//
// The order is fixed: inputs are combined first to last, whatever the instruction set or the split into
// parts, so results have the same bits everywhere. 16-bit floats are accumulated in f32 and rounded once
// where all inputs are at hand.
#pragma once

#include <cstddef>
#include <span>

#include "lockstep/comm/element_type.h"
#include "lockstep/comm/operation.h"

namespace lockstep::comm {

// outputs[...][i] = inputs[0][i] op inputs[1][i] op ... for `count` elements; `mean` divides by the number of
// inputs. Outputs may be inputs, element for element; no other overlap is allowed.
void reduce_ranks(ReduceOp op, ElementType type, std::span<void* const> outputs,
                  std::span<const void* const> inputs, std::size_t count);

// accumulator[i] = accumulator[i] op operand[i]; `mean` only sums, finish_mean() divides at the end.
void combine(ReduceOp op, ElementType type, void* accumulator, const void* operand, std::size_t count);
void finish_mean(ElementType type, void* data, std::size_t count, int ranks);

// Between f32 and a 16-bit float, `type`: to nearest, ties to even; what is too large becomes infinite.
void narrow(ElementType type, void* to, const float* from, std::size_t count);
void widen(ElementType type, float* to, const void* from, std::size_t count);

// The instruction set in use: "avx512", "avx2" or "baseline".
const char* reduction_instruction_set();

}  // namespace lockstep::comm
