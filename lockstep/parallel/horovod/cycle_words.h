// What one rank says in every cycle, in words of 64 bits of a fixed number:
//
//   word 0          bits 0 to 31: requests that follow; bit 32: wants to pause; bit 33: has news
//   words 1 and on  the bit vector: bit p is set while the tensor at the cache's position p waits to be
//   reduced
//
// All ranks get all ranks' words, so that each finds by itself what is ready everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lockstep::parallel::horovod {

// Words of one rank when `positions` tensors can be cached.
std::size_t words_per_rank(std::size_t positions);

// A view of one rank's words; owns nothing.
class CycleWords {
 public:
  explicit CycleWords(std::span<std::uint64_t> words) : words_(words) {}

  void clear();
  void set_requests(std::size_t count);
  std::size_t requests() const { return words_[0] & 0xffffffffu; }
  void want_pause() { words_[0] |= kPause; }
  bool wants_pause() const { return (words_[0] & kPause) != 0; }
  void announce_news() { words_[0] |= kNews; }
  bool has_news() const { return (words_[0] & kNews) != 0; }

  void set(std::size_t position) { words_[1 + position / 64] |= bit(position); }
  bool has(std::size_t position) const { return (words_[1 + position / 64] & bit(position)) != 0; }

 private:
  static constexpr std::uint64_t kPause = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kNews = std::uint64_t{1} << 33;
  static std::uint64_t bit(std::size_t position) { return std::uint64_t{1} << (position % 64); }

  std::span<std::uint64_t> words_;
};

}  // namespace lockstep::parallel::horovod
