// What a rank tells its peers when a p2p communicator is opened, as text for the store, and whether ranks
// that have said so can be joined. Needs no GPU.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/comm/communicator.h"

namespace lockstep::comm::p2p {

inline constexpr std::size_t kHandleBytes = 64;  // of cudaIpcMemHandle_t
using HandleBytes = std::array<unsigned char, kHandleBytes>;

// How ranks wait for each other.
enum class Waiting {
  blocks,  // an operation is one kernel, whose blocks wait
  memory,  // in phases (phases.h): the stream waits, by memory operations
};
std::string_view name_of(Waiting waiting);

// What the environment asks for, to find out what a stall or a delay comes from.
struct WaitSettings {
  std::string waiting = "auto";  // LOCKSTEP_P2P_WAIT: a name of Waiting
  int most_blocks = 0;           // LOCKSTEP_P2P_BLOCKS: of a kernel; 0: as many as pay

  static WaitSettings from_environment();  // throws ConfigError for something else
};

struct PeerFacts {
  std::uint64_t process = 0;  // a random number of its own for every process
  std::string host;
  std::string device;         // the GPU's unique name (device::cuda::DeviceFacts::uuid)
  int multiprocessors = 0;    // that it may use; fewer than the GPU's in a slice
  bool memory_waits = false;  // whether its streams can wait for words in memory
  WaitSettings settings;
};

std::string to_text(const PeerFacts& facts);
PeerFacts peer_facts_from(const std::string& text);  // throws CommError when it is none

// Of a rank's arena, which it makes when it has heard the facts of all.
std::string text_of(const HandleBytes& handle);
HandleBytes handle_from(const std::string& text);  // throws CommError when it is none

// Throws ConfigError, with the next step, for a group that is too large or on several hosts, before anything
// is asked of the device.
void require_one_host(const Group& group);
// Throws ConfigError, with the next step, for ranks that cannot map each other's memory whatever their
// devices are: of several hosts, or in one process. `all` by rank.
void require_joinable(const std::vector<PeerFacts>& all, int rank);

// How the ranks wait for each other, the same on all of them: by blocks where each has a GPU of its own, else
// in phases; or as they are all told. Throws ConfigError, with the next step, where they are told different
// things, or a driver cannot wait for memory.
Waiting waiting_of(const std::vector<PeerFacts>& all, int rank);

// Whether any two of them are on one GPU.
bool share_a_gpu(const std::vector<PeerFacts>& all);

// How many blocks a kernel may have. Where they wait, all of them must run at the same time on every rank,
// with room left for a second communicator: one for each multiprocessor of the rank that has the fewest. Else
// twice that.
std::uint32_t most_blocks(const std::vector<PeerFacts>& all, Waiting waiting);

}  // namespace lockstep::comm::p2p
