// Random numbers that depend on a key and on nothing else: not on the thread, the rank or what was drawn
// before. A shuffle is keyed by seed and epoch, an augmentation by seed, epoch and global sample index: so a
// run draws the same numbers whatever the number of workers. docs/data.md gives the arithmetic, so that
// another engine can draw them too.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <numbers>

namespace lockstep::base {

// The finaliser of SplitMix64: a bijection of 64 bits in which every input bit reaches every output bit.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// The key of a sequence of words: each word is mixed into what the words before it gave.
constexpr std::uint64_t mix_key(std::initializer_list<std::uint64_t> words) {
  std::uint64_t key = 0;
  for (const std::uint64_t word : words) key = mix_bits(key ^ word);
  return key;
}

// What a stream of numbers is for: streams of one seed never overlap.
enum class RandomStream : std::uint64_t { shuffle = 1, augmentation = 2, noise = 3, content = 4 };

// The numbers of one key, in order.
class KeyedRandom {
 public:
  KeyedRandom(RandomStream stream, std::initializer_list<std::uint64_t> key)
      : key_(mix_bits(mix_key(key) ^ static_cast<std::uint64_t>(stream))) {}

  std::uint64_t next() { return mix_bits(key_ ^ mix_bits(count_++)); }
  // In [0, 1), 24 bits: exact in a float.
  float uniform() { return static_cast<float>(next() >> 40) * 0x1.0p-24f; }
  float between(float low, float high) { return low + (high - low) * uniform(); }
  // In [0, bound); bound must be positive and below 2^32.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }
  bool coin() { return (next() >> 63) != 0; }
  // Two independent numbers of the standard normal distribution (Box and Muller).
  void normal_pair(float& first, float& second) {
    const float radius = std::sqrt(-2.0f * std::log(1.0f - uniform()));
    const float angle = 2.0f * std::numbers::pi_v<float> * uniform();
    first = radius * std::cos(angle);
    second = radius * std::sin(angle);
  }

 private:
  std::uint64_t key_;
  std::uint64_t count_ = 0;
};

}  // namespace lockstep::base
