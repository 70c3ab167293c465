// What a rank tells its peers when a p2p communicator is opened, as text for the store, and whether ranks
// that have said so can be joined. Needs no GPU.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/comm/communicator.h"

namespace lockstep::comm::p2p {

inline constexpr std::size_t kHandleBytes = 64;  // of cudaIpcMemHandle_t
using HandleBytes = std::array<unsigned char, kHandleBytes>;

struct PeerFacts {
  std::uint64_t process = 0;  // a random number of its own for every process
  std::string host;
  std::string device;       // the GPU's unique name (device::cuda::DeviceFacts::uuid)
  int multiprocessors = 0;  // that it may use; fewer than the GPU's in a slice
  HandleBytes handle{};     // of its arena
};

std::string to_text(const PeerFacts& facts);
PeerFacts peer_facts_from(const std::string& text);  // throws CommError when it is none

// Throws ConfigError, with the next step, for a group that is too large or on several hosts, before anything
// is asked of the device.
void require_one_host(const Group& group);
// Throws ConfigError, with the next step, for ranks that cannot map each other's memory whatever their
// devices are: of several hosts, or in one process. `all` by rank.
void require_joinable(const std::vector<PeerFacts>& all, int rank);

// How many blocks a kernel may have so that all of them run at the same time on every rank, with room left
// for a second communicator: one for each multiprocessor of the rank that has the fewest.
std::uint32_t most_blocks(const std::vector<PeerFacts>& all);

}  // namespace lockstep::comm::p2p
