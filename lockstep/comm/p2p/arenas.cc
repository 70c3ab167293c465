#include "lockstep/comm/p2p/arenas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "lockstep/base/error.h"
#include "lockstep/comm/cuda/device_place.h"
#include "lockstep/comm/p2p/arena_layout.h"
#include "lockstep/device/cuda/cuda_device.h"
#include "lockstep/device/cuda/cuda_error.h"
#include "lockstep/device/cuda/stream_memory.h"

namespace lockstep::comm::p2p {
namespace {

using device::cuda::check;
using device::cuda::DeviceScope;
using device::cuda::Memory;
using device::cuda::MemoryKind;

constexpr const char* kBackend = "p2p";
constexpr const char* kWell = "ok";
constexpr const char* kNone = "none";
constexpr base::Nanoseconds kClosePatience = std::chrono::seconds(10);

static_assert(sizeof(cudaIpcMemHandle_t) == kHandleBytes);

std::string key_of(const char* what, int rank) {
  return fmt::format("{}/{}", what, rank);
}

// Peers write into the header as soon as they know the handle: it is cleared before.
Memory make_arena(const StreamPlace& place, bool in_phases) {
  Memory arena(MemoryKind::device, arena_bytes(place.group.world, in_phases));
  check(cudaMemset(arena.data(), 0, kHeaderBytes), "clearing an arena");
  check(cudaDeviceSynchronize(), "clearing an arena");
  return arena;
}

HandleBytes handle_of(const Memory& arena, int rank) {
  cudaIpcMemHandle_t handle{};
  check(
      cudaIpcGetMemHandle(&handle, arena.data()),
      fmt::format("rank {}: exporting device memory for backend p2p, which needs CUDA IPC (use backend nccl)",
                  rank));
  HandleBytes bytes{};
  std::memcpy(bytes.data(), &handle, bytes.size());
  return bytes;
}

PeerFacts facts_of_this_rank(const StreamPlace& place, std::uint64_t process) {
  PeerFacts facts;
  facts.process = process;
  facts.host = place.group.host;
  facts.device = device::cuda::facts_of(place.device).uuid;
  check(cudaDeviceGetAttribute(&facts.multiprocessors, cudaDevAttrMultiProcessorCount, place.device),
        "asking for the number of multiprocessors");
  facts.memory_waits = device::cuda::why_no_stream_memory(place.device).empty();
  facts.settings = WaitSettings::from_environment();
  return facts;
}

std::vector<PeerFacts> exchange(const StreamPlace& place, Store& store, const PeerFacts& own,
                                base::Deadline deadline) {
  store.set(key_of("facts", place.group.rank), to_text(own));
  std::vector<PeerFacts> all;
  for (int rank = 0; rank < place.group.world; ++rank)
    all.push_back(
        peer_facts_from(value_of_rank(kBackend, store, place.group, rank, key_of("facts", rank), deadline)));
  return all;
}

// This process's number for a GPU; nothing where it does not see it.
std::optional<int> device_with(const std::string& uuid) {
  const int count = device::cuda::count_devices().count;
  for (int device = 0; device < count; ++device)
    if (device::cuda::facts_of(device).uuid == uuid) return device;
  return std::nullopt;
}

void require_access(const StreamPlace& place, const PeerFacts& peer_facts, int peer) {
  const std::optional<int> other = device_with(peer_facts.device);
  if (!other || *other == place.device) return;  // one it does not see: mapping it will tell
  int can_access = 0;
  check(cudaDeviceCanAccessPeer(&can_access, place.device, *other),
        "asking whether devices can reach each other");
  if (can_access == 0)
    throw base::ConfigError(fmt::format(
        "rank {}: backend p2p cannot be used: its CUDA device {} cannot reach the memory of device {}, "
        "which rank {} is on. Use backend nccl.",
        place.group.rank, place.device, *other, peer));
}

std::byte* map_arena(const HandleBytes& bytes, int rank, int peer) {
  cudaIpcMemHandle_t handle{};
  std::memcpy(&handle, bytes.data(), bytes.size());
  void* mapped = nullptr;
  const cudaError_t result = cudaIpcOpenMemHandle(&mapped, handle, cudaIpcMemLazyEnablePeerAccess);
  if (result != cudaSuccess)
    check(result,
          fmt::format("rank {}: mapping the device memory of rank {} for backend p2p, which needs CUDA IPC "
                      "and every rank to see all devices (else use backend nccl)",
                      rank, peer));
  return static_cast<std::byte*>(mapped);
}

// Every rank says how it went; who went wrong has thrown its own error already.
void require_well(const StreamPlace& place, Store& store, int rank, base::Deadline deadline) {
  const std::string said =
      value_of_rank(kBackend, store, place.group, rank, key_of("mapped", rank), deadline);
  if (said != kWell)
    throw base::CommError(base::CommError::Kind::collateral,
                          fmt::format("rank {}: backend p2p was not opened, since rank {} failed: {}",
                                      place.group.rank, rank, said));
}

bool closed_everywhere(const StreamPlace& place) {
  PrefixStore store(*place.run_store, place.prefix);
  store.set(key_of("closed", place.group.rank), kWell);
  const base::Deadline deadline(std::min(kClosePatience, place.options.timeout));
  for (int rank = 0; rank < place.group.world; ++rank) {
    if (rank == place.group.rank) continue;
    store.get(key_of("closed", rank), deadline);
  }
  return true;
}

}  // namespace

Arenas::Arenas(const StreamPlace& place, std::uint64_t process, base::Deadline deadline)
    : rank_(place.group.rank), mapped_(static_cast<std::size_t>(place.group.world)) {
  require_one_host(place.group);
  if (place.group.world == 1) return;
  const DeviceScope scope(place.device);
  PrefixStore store(*place.run_store, place.prefix);
  const std::vector<PeerFacts> all = exchange(place, store, facts_of_this_rank(place, process), deadline);
  try {
    agree(all);
    make_own(place, store);
    map_peers(place, store, all, deadline);
    map_words(place, store, deadline);
  } catch (const std::exception& error) {
    own_.release();  // peers may have mapped it
    store.set(key_of("mapped", rank_), error.what());
    store.set(key_of("arena", rank_), kNone);  // whoever waits for it looks there
    throw;
  }
  store.set(key_of("mapped", rank_), kWell);
  try {
    for (int rank = 0; rank < place.group.world; ++rank) require_well(place, store, rank, deadline);
  } catch (...) {
    own_.release();
    throw;
  }
  words_->close_file();
}

void Arenas::agree(const std::vector<PeerFacts>& all) {
  require_joinable(all, rank_);
  waiting_ = waiting_of(all, rank_);
  shares_a_gpu_ = share_a_gpu(all);
  const std::uint32_t most = most_blocks(all, waiting_);
  limits_ = waiting_ == Waiting::blocks ? limits_of_one_kernel(most)
                                        : limits_in_phases(most, static_cast<int>(all.size()));
}

void Arenas::make_own(const StreamPlace& place, Store& store) {
  own_ = make_arena(place, limits_.in_phases);
  mapped_[static_cast<std::size_t>(rank_)] = own_.data();
  store.set(key_of("arena", rank_), text_of(handle_of(own_, rank_)));
}

// Rank 0 makes them. Where it cannot, it says so, and the others hear why with everything else that went
// wrong.
void Arenas::map_words(const StreamPlace& place, Store& store, base::Deadline deadline) {
  const int world = place.group.world;
  if (rank_ == 0) {
    try {
      words_ = SharedWords::create(rank_, world);
    } catch (...) {
      store.set(key_of("words", 0), kNone);
      throw;
    }
    store.set(key_of("words", 0), words_->invitation());
    return;
  }
  const std::string invitation = value_of_rank(kBackend, store, place.group, 0, key_of("words", 0), deadline);
  if (invitation != kNone) words_ = SharedWords::open(invitation, rank_, world);
}

void Arenas::map_peers(const StreamPlace& place, Store& store, const std::vector<PeerFacts>& all,
                       base::Deadline deadline) {
  for (int peer = 0; peer < place.group.world; ++peer) {
    if (peer == rank_) continue;
    require_access(place, all[static_cast<std::size_t>(peer)], peer);
    const std::string handle =
        value_of_rank(kBackend, store, place.group, peer, key_of("arena", peer), deadline);
    if (handle == kNone) require_well(place, store, peer, deadline);
    mapped_[static_cast<std::size_t>(peer)] = map_arena(handle_from(handle), rank_, peer);
  }
}

void Arenas::unmap_peers() noexcept {
  for (std::size_t peer = 0; peer < mapped_.size(); ++peer) {
    if (static_cast<int>(peer) == rank_ || mapped_[peer] == nullptr) continue;
    static_cast<void>(cudaIpcCloseMemHandle(mapped_[peer]));
    mapped_[peer] = nullptr;
  }
}

Arenas::~Arenas() {
  unmap_peers();
}

void Arenas::close(const StreamPlace& place) noexcept {
  if (place.group.world == 1) return;
  try {
    const DeviceScope scope(place.device);
    unmap_peers();
    if (closed_everywhere(place)) own_ = {};
  } catch (const std::exception&) {
    abandon();
  }
}

void Arenas::abandon() noexcept {
  for (std::byte*& each : mapped_) each = nullptr;
  own_.release();
}

}  // namespace lockstep::comm::p2p
