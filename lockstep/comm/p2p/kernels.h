// The kernels' interface: what one operation tells them, and how they are put on a stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "lockstep/comm/element_type.h"
#include "lockstep/comm/p2p/algorithm.h"
#include "lockstep/comm/p2p/arena_layout.h"
#include "lockstep/comm/p2p/phases.h"

namespace lockstep::comm::p2p {

// Why a kernel left before its work was done.
enum class Trouble : std::uint32_t { none, timed_out, disagreement };

// Words in pinned memory of the host, which kernels reach too.
struct HostWords {
  std::uint32_t abort;    // written by the host: not 0 makes kernels leave
  std::uint32_t trouble;  // written by the first block that found one; a Trouble
  std::int32_t peer;      // that it waited for, or that meant another operation; written before `trouble`
};

// One rank's part in one operation. Buffers are on the device; pointers of arenas are those of this process.
struct Task {
  std::byte* arenas[kMostRanks];  // by rank
  std::uint64_t part_offset[kMostRanks];
  std::uint64_t part_bytes[kMostRanks];  // of an operation without parts: part 0 is the whole
  const std::byte* input;
  std::byte* output;
  HostWords* words;
  RankWords* ranks;           // by rank, as the device sees them; null unless operations go in phases
  std::uint64_t* first_wait;  // pinned: nanoseconds until all peers had come; may be null
  std::uint64_t timeout;      // nanoseconds
  std::uint64_t piece_bytes;
  std::uint32_t rounds;
  std::uint32_t signature;
  Algorithm algorithm;
  std::uint32_t rank;
  std::uint32_t world;
  std::uint32_t root;  // or the peer of a message
};

inline constexpr int kReduceOps = 4;

// Which kernel it is, besides the algorithm.
struct KernelChoice {
  ElementType type;
  std::uint32_t reduce_op;  // a ReduceOp (operation.h is no C++17)
  bool sends;               // of a message
};

// Makes every kernel ready on the current device. A kernel that is loaded when it is first used may have to
// wait for those that run, and these may be waiting for a peer. Throws DeviceError where the device cannot
// run them.
void load_kernels();

// Puts the kernel of one operation on the stream.
void launch_kernel(const Task& task, const KernelChoice& choice, std::uint32_t blocks, cudaStream_t stream);

// Puts the kernels of one phase of an operation on the stream: what it waits for has happened before they
// begin.
void launch_phase(const Task& task, const Phase& phase, const KernelChoice& choice, std::uint32_t blocks,
                  cudaStream_t stream);

}  // namespace lockstep::comm::p2p
