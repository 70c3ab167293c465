#include "lockstep/comm/reduction/reduction.h"

#include "lockstep/comm/reduction/kernels.h"

namespace lockstep::comm {
namespace {

const kernels::Table& fastest_table() {
  const kernels::Table* tables[kernels::kMostTables] = {};
  return *tables[kernels::usable(tables) - 1];
}

const kernels::Table& table() {
  static const kernels::Table& chosen = fastest_table();
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

void narrow(ElementType type, void* to, const float* from, std::size_t count) {
  table().narrow[static_cast<int>(type)](static_cast<unsigned short*>(to), from, count);
}

void widen(ElementType type, float* to, const void* from, std::size_t count) {
  table().widen[static_cast<int>(type)](to, static_cast<const unsigned short*>(from), count);
}

const char* reduction_instruction_set() {
  return table().name;
}

}  // namespace lockstep::comm
