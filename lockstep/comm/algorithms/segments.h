// How a tensor is divided. A *chunk* is the part of it that one rank is responsible for; a *segment* is the
// part of a chunk that travels as one message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lockstep/comm/operation.h"

namespace lockstep::comm {

// One chunk a rank, as equal as whole elements allow: the first ones are an element longer.
inline std::vector<Part> equal_chunks(std::size_t count, std::size_t element_bytes, int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  std::vector<Part> chunks;
  std::size_t offset = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t bytes = (count / n + (i < count % n ? 1 : 0)) * element_bytes;
    chunks.push_back({offset, bytes});
    offset += bytes;
  }
  return chunks;
}

// The chunks that an operation's counts say.
inline std::vector<Part> chunks_of(const Operation& operation, int ranks) {
  std::vector<Part> chunks;
  for (int rank = 0; rank < ranks; ++rank) chunks.push_back(part_of(operation, rank, ranks));
  return chunks;
}

// Cuts every chunk in the same way; the last segments of shorter chunks are short or empty.
struct Segments {
  std::size_t bytes = 0;  // of a full segment, a multiple of every element's size
  std::size_t count = 1;  // segments a chunk

  Segments(std::size_t longest_chunk_bytes, std::size_t most_bytes) {
    constexpr std::size_t kAlignment = 64;
    const std::size_t wanted = std::max<std::size_t>(1, (longest_chunk_bytes + most_bytes - 1) / most_bytes);
    const std::size_t even = (longest_chunk_bytes + wanted - 1) / wanted;
    bytes = std::max(kAlignment, (even + kAlignment - 1) / kAlignment * kAlignment);
    count = std::max<std::size_t>(1, (longest_chunk_bytes + bytes - 1) / bytes);
  }

  Part of(const Part& chunk, std::size_t segment) const {
    const std::size_t begin = std::min(chunk.bytes, segment * bytes);
    return {chunk.offset_bytes + begin, std::min(bytes, chunk.bytes - begin)};
  }
};

inline std::size_t longest_bytes(const std::vector<Part>& chunks) {
  std::size_t longest = 0;
  for (const Part& chunk : chunks) longest = std::max(longest, chunk.bytes);
  return longest;
}

}  // namespace lockstep::comm
