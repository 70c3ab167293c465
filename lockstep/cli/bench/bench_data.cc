#include "lockstep/cli/bench/bench_data.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace lockstep::cli {
namespace {

constexpr std::size_t kPeriod = 251;         // elements; prime
constexpr std::size_t kPeriodsPerTile = 32;  // so that filling and comparing go in runs of some kilobytes
constexpr int kLargestSum = 255;

template <typename Value>
void store(Value value, std::byte* to) {
  std::memcpy(to, &value, sizeof(value));
}

std::uint16_t bf16_bits(int value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
}

// A whole number from 1 to 255 is 1.m times 2^e with e from 0 to 7: exponent bias 15, ten bits of m.
std::uint16_t f16_bits(int value) {
  if (value == 0) return 0;
  const int exponent = std::bit_width(static_cast<unsigned>(value)) - 1;
  const int mantissa = (value - (1 << exponent)) << (10 - exponent);
  return static_cast<std::uint16_t>(((exponent + 15) << 10) | mantissa);
}

int as_int(std::size_t number) {
  return static_cast<int>(number);
}

// For a sum: so small that `world` of them together stay within the largest sum.
int sum_input(std::size_t index, int rank, int world) {
  const int numbers = std::clamp(kLargestSum / world + 1, 2, 16);
  return (as_int(index) * 3 + rank * 5) % numbers;
}

// For a mean: so that the ranks' values add up to a multiple of the world. Twice the numbers 0 to world-1,
// turned by the index, average to world-1; what is left below the largest sum is the same number for all
// ranks.
int mean_input(std::size_t index, int rank, int world) {
  const int room = kLargestSum / world - (world - 1);
  if (room < 0) return as_int(index) % (std::max(1, kLargestSum / world) + 1);
  const int shared = (as_int(index) * 3) % (std::min(room, 16) + 1);
  return shared + 2 * ((rank + as_int(index)) % world);
}

int extreme_input(std::size_t index, int rank) {
  return (as_int(index) * 3 + rank * 37) % 127;
}

int input_value(comm::ReduceOp op, std::size_t index, int rank, int world) {
  switch (op) {
    case comm::ReduceOp::sum:
      return sum_input(index, rank, world);
    case comm::ReduceOp::mean:
      return mean_input(index, rank, world);
    case comm::ReduceOp::max:
    case comm::ReduceOp::min:
      break;
  }
  return extreme_input(index, rank);
}

int combine(comm::ReduceOp op, int one, int other) {
  if (op == comm::ReduceOp::max) return std::max(one, other);
  if (op == comm::ReduceOp::min) return std::min(one, other);
  return one + other;
}

int output_value(comm::ReduceOp op, std::size_t index, int world) {
  int result = input_value(op, index, 0, world);
  for (int rank = 1; rank < world; ++rank) result = combine(op, result, input_value(op, index, rank, world));
  return op == comm::ReduceOp::mean ? result / world : result;
}

}  // namespace

void encode(int value, comm::ElementType type, std::byte* to) {
  using comm::ElementType;
  switch (type) {
    case ElementType::f32:
      return store(static_cast<float>(value), to);
    case ElementType::f64:
      return store(static_cast<double>(value), to);
    case ElementType::f16:
      return store(f16_bits(value), to);
    case ElementType::bf16:
      return store(bf16_bits(value), to);
    case ElementType::i32:
      return store(static_cast<std::int32_t>(value), to);
    case ElementType::i64:
      return store(static_cast<std::int64_t>(value), to);
    case ElementType::u8:
      return store(static_cast<std::uint8_t>(value), to);
  }
}

Pattern::Pattern(comm::ElementType type, const std::function<int(std::size_t)>& value)
    : element_bytes_(comm::bytes_of(type)), run_elements_(kPeriod * kPeriodsPerTile) {
  const std::size_t elements = run_elements_ + kPeriod;
  tile_.resize(elements * element_bytes_);
  for (std::size_t i = 0; i < elements; ++i)
    encode(value(i % kPeriod), type, tile_.data() + i * element_bytes_);
}

void Pattern::fill(std::byte* to, std::size_t count, std::size_t first) const {
  for (std::size_t done = 0; done < count; done += run_elements_) {
    const std::size_t run = std::min(run_elements_, count - done);
    const std::byte* tile = tile_.data() + (first + done) % kPeriod * element_bytes_;
    std::memcpy(to + done * element_bytes_, tile, run * element_bytes_);
  }
}

std::size_t Pattern::count_wrong(const std::byte* from, std::size_t count, std::size_t first) const {
  std::size_t wrong = 0;
  for (std::size_t done = 0; done < count; done += run_elements_) {
    const std::size_t run = std::min(run_elements_, count - done);
    const std::byte* tile = tile_.data() + (first + done) % kPeriod * element_bytes_;
    const std::byte* piece = from + done * element_bytes_;
    if (std::memcmp(piece, tile, run * element_bytes_) == 0) continue;
    for (std::size_t i = 0; i < run; ++i)
      if (std::memcmp(piece + i * element_bytes_, tile + i * element_bytes_, element_bytes_) != 0) ++wrong;
  }
  return wrong;
}

Pattern reduce_input(const Cell& cell, int rank, int world) {
  return Pattern(cell.type, [&](std::size_t index) { return input_value(cell.op, index, rank, world); });
}

Pattern reduce_output(const Cell& cell, int world) {
  return Pattern(cell.type, [&](std::size_t index) { return output_value(cell.op, index, world); });
}

Pattern moved_data(const Cell& cell, int rank) {
  return Pattern(cell.type, [&](std::size_t index) { return (as_int(index) + rank * 17 + 1) % 113; });
}

}  // namespace lockstep::cli
