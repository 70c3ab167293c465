// Small helpers around raw memory that the collectives share.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "lockstep/comm/operation.h"
#include "lockstep/comm/reduction/reduction.h"

namespace lockstep::comm {

inline std::byte* bytes_at(const Buffer& buffer, std::size_t offset_bytes = 0) {
  return static_cast<std::byte*>(buffer.data) + offset_bytes;
}

inline std::span<std::byte> span_of(const Buffer& buffer, const Part& part) {
  return {bytes_at(buffer, part.offset_bytes), part.bytes};
}

inline void copy_unless_same(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0 && to != from) std::memmove(to, from, bytes);
}

inline bool overlap(const Buffer& one, const Buffer& other) {
  const std::byte* first = bytes_at(one);
  const std::byte* second = bytes_at(other);
  return one.bytes > 0 && other.bytes > 0 && first < second + other.bytes && second < first + one.bytes;
}

// The operation's reduction on bytes.
inline void combine_bytes(const Operation& operation, void* accumulator, const void* operand,
                          std::size_t bytes) {
  if (bytes > 0)
    combine(operation.reduce_op, operation.type(), accumulator, operand, bytes / bytes_of(operation.type()));
}

// The division that is left of a mean when the sum is complete.
inline void finish_bytes(const Operation& operation, void* data, std::size_t bytes, int ranks) {
  if (operation.reduce_op == ReduceOp::mean && bytes > 0)
    finish_mean(operation.type(), data, bytes / bytes_of(operation.type()), ranks);
}

}  // namespace lockstep::comm
