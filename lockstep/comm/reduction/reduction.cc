#include "lockstep/comm/reduction/reduction.h"

#include "lockstep/comm/reduction/kernels.h"

namespace lockstep::comm {
namespace {

const kernels::Table& best_table() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    return kernels::avx512();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c")) return kernels::avx2();
  return kernels::baseline();
}

const kernels::Table& table() {
  static const kernels::Table& chosen = best_table();
  return chosen;
}

}  // namespace

void reduce_ranks(ReduceOp op, ElementType type, std::span<void* const> outputs,
                  std::span<const void* const> inputs, std::size_t count) {
  const auto reduce = table().reduce[static_cast<int>(op)][static_cast<int>(type)];
  reduce(outputs.data(), static_cast<int>(outputs.size()), inputs.data(), static_cast<int>(inputs.size()),
         count);
}

void combine(ReduceOp op, ElementType type, void* accumulator, const void* operand, std::size_t count) {
  void* const outputs[] = {accumulator};
  const void* const inputs[] = {accumulator, operand};
  reduce_ranks(op == ReduceOp::mean ? ReduceOp::sum : op, type, outputs, inputs, count);
}

void finish_mean(ElementType type, void* data, std::size_t count, int ranks) {
  table().divide[static_cast<int>(type)](data, count, ranks);
}

const char* reduction_instruction_set() {
  return table().name;
}

}  // namespace lockstep::comm
