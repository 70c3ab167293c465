// Everything is written as loops over small arrays of independent lanes without branches, which the compiler
// turns into vector code. Logarithm, sine and cosine are polynomials of our own for the same reason, and
// because the same bits must come out on every machine (this file is compiled without contraction to fused
// operations).
#include "lockstep/models/philox.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace lockstep::models {
namespace {

constexpr std::size_t kLanes = 16;          // counters computed side by side
constexpr std::size_t kBatch = 4 * kLanes;  // words that makes
using Lanes = std::array<std::uint32_t, kLanes>;
using Words = std::array<std::uint32_t, kBatch>;
using Floats = std::array<float, kBatch>;

struct Counters {
  Lanes c0, c1, c2, c3;
};

void philox_round(Counters& counters, std::uint32_t k0, std::uint32_t k1) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53} * counters.c0[i];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * counters.c2[i];
    counters.c0[i] = static_cast<std::uint32_t>(product1 >> 32) ^ counters.c1[i] ^ k0;
    counters.c1[i] = static_cast<std::uint32_t>(product1);
    counters.c2[i] = static_cast<std::uint32_t>(product0 >> 32) ^ counters.c3[i] ^ k1;
    counters.c3[i] = static_cast<std::uint32_t>(product0);
  }
}

Counters first_counters(const PhiloxStream& stream, std::uint64_t batch) {
  Counters counters;
  for (std::size_t i = 0; i < kLanes; ++i) {
    const std::uint64_t block = batch * kLanes + i;
    counters.c0[i] = static_cast<std::uint32_t>(block);
    counters.c1[i] = static_cast<std::uint32_t>(block >> 32);
    counters.c2[i] = static_cast<std::uint32_t>(stream.stream);
    counters.c3[i] = static_cast<std::uint32_t>(stream.stream >> 32);
  }
  return counters;
}

// Words [batch * kBatch, (batch + 1) * kBatch) of the stream.
void generate(const PhiloxStream& stream, std::uint64_t batch, Words& words) {
  Counters counters = first_counters(stream, batch);
  auto k0 = static_cast<std::uint32_t>(stream.key);
  auto k1 = static_cast<std::uint32_t>(stream.key >> 32);
  for (int round = 0; round < 10; ++round) {
    philox_round(counters, k0, k1);
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  std::copy(counters.c0.begin(), counters.c0.end(), words.begin());
  std::copy(counters.c1.begin(), counters.c1.end(), words.begin() + kLanes);
  std::copy(counters.c2.begin(), counters.c2.end(), words.begin() + 2 * kLanes);
  std::copy(counters.c3.begin(), counters.c3.end(), words.begin() + 3 * kLanes);
}

float unit_float(std::uint32_t word) {  // [0, 1) in steps of 2^-24
  return static_cast<float>(static_cast<std::int32_t>(word >> 8)) * 0x1p-24F;
}

// Natural logarithm of a normal number: exponent and mantissa apart, then a polynomial on [sqrt(1/2),
// sqrt(2)).
float polynomial_log(float x) {
  const auto bits = std::bit_cast<std::int32_t>(x);
  const std::int32_t exponent = (bits - 0x3F3504F3) >> 23;
  const float m = std::bit_cast<float>(bits - (exponent << 23)) - 1.0F;
  float p = 7.0376836292e-2F;
  p = p * m - 1.1514610310e-1F;
  p = p * m + 1.1676998740e-1F;
  p = p * m - 1.2420140846e-1F;
  p = p * m + 1.4249322787e-1F;
  p = p * m - 1.6668057665e-1F;
  p = p * m + 2.0000714765e-1F;
  p = p * m - 2.4999993993e-1F;
  p = p * m + 3.3333331174e-1F;
  return m - 0.5F * m * m + p * m * m * m + static_cast<float>(exponent) * 0.693147180559945F;
}

float polynomial_sine(float x) {  // |x| <= pi/4
  const float s = x * x;
  return x + x * s * (-1.6666654611e-1F + s * (8.3321608736e-3F - s * 1.9515295891e-4F));
}
float polynomial_cosine(float x) {  // |x| <= pi/4
  const float s = x * x;
  return 1.0F - 0.5F * s +
         s * s * (4.166664568298827e-2F + s * (-1.388731625493765e-3F + s * 2.443315711809948e-5F));
}

// Box-Muller: a radius from one word and a direction from another give two normal values.
void normal_pair(std::uint32_t radius_word, std::uint32_t angle_word, float deviation, float& one,
                 float& other) {
  const float u = static_cast<float>(static_cast<std::int32_t>(radius_word >> 8) + 1) * 0x1p-24F;  // (0, 1]
  const float radius = deviation * std::sqrt(-2.0F * polynomial_log(u));
  const float turn = unit_float(angle_word) * 4.0F;  // quarter turns
  const auto quarter = static_cast<std::int32_t>(turn);
  const float angle = (turn - static_cast<float>(quarter) - 0.5F) * 1.57079632679F;
  const float sine = polynomial_sine(angle);
  const float cosine = polynomial_cosine(angle);
  const float x = (quarter & 1) != 0 ? -sine : cosine;
  const float y = (quarter & 1) != 0 ? cosine : sine;
  const float sign = (quarter & 2) != 0 ? -radius : radius;
  one = sign * x;
  other = sign * y;
}

void to_normal(const Words& words, float deviation, Floats& values) {
  constexpr std::size_t kHalf = kBatch / 2;
  for (std::size_t i = 0; i < kHalf; ++i) {
    normal_pair(words[i], words[kHalf + i], deviation, values[i], values[kHalf + i]);
  }
}

void to_uniform(const Words& words, float low, float width, Floats& values) {
  for (std::size_t i = 0; i < kBatch; ++i) values[i] = low + width * unit_float(words[i]);
}

void to_mask(const Words& words, std::uint32_t threshold, float kept, Floats& values) {
  for (std::size_t i = 0; i < kBatch; ++i) values[i] = words[i] < threshold ? 0.0F : kept;
}

// Runs the stream in batches through `convert` and copies what is asked for.
template <class Value, class Convert>
void fill_batches(const PhiloxStream& stream, std::span<Value> out, Convert convert) {
  Words words;
  std::array<Value, kBatch> values;
  for (std::size_t begin = 0; begin < out.size(); begin += kBatch) {
    generate(stream, begin / kBatch, words);
    convert(words, values);
    const std::size_t count = std::min(kBatch, out.size() - begin);
    std::copy_n(values.begin(), count, out.begin() + static_cast<std::ptrdiff_t>(begin));
  }
}

}  // namespace

std::uint64_t philox_mix(std::uint64_t one, std::uint64_t other) {
  std::uint64_t z = one * 0x9E3779B97F4A7C15ULL + other + 0x632BE59BD9B4E019ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

std::uint64_t philox_hash(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
  return philox_mix(hash, text.size());
}

void philox_words(const PhiloxStream& stream, std::span<std::uint32_t> out) {
  fill_batches(stream, out, [](const Words& words, Words& values) { values = words; });
}

void philox_uniform(const PhiloxStream& stream, float low, float high, std::span<float> out) {
  fill_batches(stream, out,
               [=](const Words& words, Floats& values) { to_uniform(words, low, high - low, values); });
}

void philox_normal(const PhiloxStream& stream, float deviation, std::span<float> out) {
  fill_batches(stream, out, [=](const Words& words, Floats& values) { to_normal(words, deviation, values); });
}

void philox_mask(const PhiloxStream& stream, double drop, std::span<float> out) {
  const auto threshold = static_cast<std::uint32_t>(std::min(drop * 0x1p32, 4294967295.0));
  const auto kept = static_cast<float>(1.0 / (1.0 - drop));
  fill_batches(stream, out,
               [=](const Words& words, Floats& values) { to_mask(words, threshold, kept, values); });
}

}  // namespace lockstep::models
