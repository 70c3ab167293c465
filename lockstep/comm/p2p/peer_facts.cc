#include "lockstep/comm/p2p/peer_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/comm/p2p/arena_layout.h"

namespace lockstep::comm::p2p {
namespace {

[[noreturn]] void throw_unreadable() {
  throw base::CommError(base::CommError::Kind::failed,
                        "the store holds something else than what a rank says to open backend p2p");
}

[[noreturn]] void throw_several_hosts(int rank, int peer) {
  throw base::ConfigError(fmt::format(
      "rank {}: backend p2p joins ranks of one host, which can map each other's memory, and rank {} "
      "is on another host. Use backend nccl.",
      rank, peer));
}

constexpr const char* kAuto = "auto";
constexpr const char* kWaitName = "LOCKSTEP_P2P_WAIT";
constexpr const char* kBlocksName = "LOCKSTEP_P2P_BLOCKS";

std::optional<Waiting> waiting_named(const std::string& name) {
  for (const Waiting each : {Waiting::blocks, Waiting::memory})
    if (name == name_of(each)) return each;
  return std::nullopt;
}

void require_same(const char* name, int rank, const std::string& own, std::size_t peer,
                  const std::string& other) {
  if (own != other)
    throw base::ConfigError(
        fmt::format("rank {}: {} is {} here and {} on rank {}. Give all ranks the same, or unset it.", rank,
                    name, own, other, peer));
}

void require_same_settings(const std::vector<PeerFacts>& all, int rank) {
  const WaitSettings& own = all[static_cast<std::size_t>(rank)].settings;
  for (std::size_t peer = 0; peer < all.size(); ++peer) {
    const WaitSettings& other = all[peer].settings;
    require_same(kWaitName, rank, own.waiting, peer, other.waiting);
    require_same(kBlocksName, rank, std::to_string(own.most_blocks), peer, std::to_string(other.most_blocks));
  }
}

}  // namespace

std::string_view name_of(Waiting waiting) {
  return waiting == Waiting::blocks ? "blocks" : "memory";
}

WaitSettings WaitSettings::from_environment() {
  WaitSettings settings;
  settings.waiting = base::environment(kWaitName).value_or(kAuto);
  if (settings.waiting != kAuto && !waiting_named(settings.waiting))
    throw base::ConfigError(
        fmt::format("{} is {}: it may be blocks, memory or auto.", kWaitName, settings.waiting));
  const long blocks = base::environment_integer(kBlocksName).value_or(0);
  if (blocks < 0 || blocks > kMostPhaseBlocks)
    throw base::ConfigError(
        fmt::format("{} is {}: it may be 1 to {}.", kBlocksName, blocks, kMostPhaseBlocks));
  settings.most_blocks = static_cast<int>(blocks);
  return settings;
}

std::string to_text(const PeerFacts& facts) {
  return fmt::format("{:x} {} {} {:d} {} {} {}", facts.process, facts.multiprocessors, facts.device,
                     facts.memory_waits, facts.settings.waiting, facts.settings.most_blocks, facts.host);
}

PeerFacts peer_facts_from(const std::string& text) {
  PeerFacts facts;
  std::istringstream words(text);
  words >> std::hex >> facts.process >> std::dec >> facts.multiprocessors >> facts.device >>
      facts.memory_waits >> facts.settings.waiting >> facts.settings.most_blocks;
  if (!words) throw_unreadable();
  words >> facts.host;  // may be empty
  return facts;
}

std::string text_of(const HandleBytes& handle) {
  std::string text;
  for (const unsigned char byte : handle) text += fmt::format("{:02x}", byte);
  return text;
}

HandleBytes handle_from(const std::string& text) {
  HandleBytes bytes{};
  if (text.size() != 2 * kHandleBytes) throw_unreadable();
  for (std::size_t i = 0; i < kHandleBytes; ++i) {
    const char* digits = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(digits, digits + 2, bytes[i], 16);
    if (error != std::errc() || end != digits + 2) throw_unreadable();
  }
  return bytes;
}

void require_one_host(const Group& group) {
  if (group.local_world != group.world)
    throw base::ConfigError(fmt::format(
        "rank {}: backend p2p joins ranks of one host, which can map each other's memory, and only {} "
        "of the {} ranks are on this one. Use backend nccl.",
        group.rank, group.local_world, group.world));
  if (group.world > kMostRanks)
    throw base::ConfigError(fmt::format(
        "backend p2p joins at most {} ranks, and there are {}. Use backend nccl.", kMostRanks, group.world));
}

void require_joinable(const std::vector<PeerFacts>& all, int rank) {
  const PeerFacts& own = all[static_cast<std::size_t>(rank)];
  for (std::size_t peer = 0; peer < all.size(); ++peer) {
    if (static_cast<int>(peer) == rank) continue;
    if (all[peer].host != own.host) throw_several_hosts(rank, static_cast<int>(peer));
    if (all[peer].process == own.process)
      throw base::ConfigError(fmt::format(
          "rank {}: backend p2p joins processes, and rank {} is in the same one. Use one process for "
          "each rank, or backend local.",
          rank, peer));
  }
}

bool share_a_gpu(const std::vector<PeerFacts>& all) {
  for (std::size_t one = 0; one < all.size(); ++one)
    for (std::size_t other = 0; other < one; ++other)
      if (all[one].device == all[other].device) return true;
  return false;
}

Waiting waiting_of(const std::vector<PeerFacts>& all, int rank) {
  require_same_settings(all, rank);
  const auto unable =
      std::find_if(all.begin(), all.end(), [](const PeerFacts& facts) { return !facts.memory_waits; });
  const Waiting waiting = waiting_named(all.front().settings.waiting)
                              .value_or(share_a_gpu(all) ? Waiting::memory : Waiting::blocks);
  if (waiting == Waiting::memory && unable != all.end())
    throw base::ConfigError(fmt::format(
        "rank {}: ranks that share a GPU wait for each other by memory operations on a stream, which "
        "the driver or device of rank {} cannot do. Use another backend, or {}=blocks, which may "
        "stall.",
        rank, unable - all.begin(), kWaitName));
  return waiting;
}

std::uint32_t most_blocks(const std::vector<PeerFacts>& all, Waiting waiting) {
  const bool in_phases = waiting != Waiting::blocks;
  int most = in_phases ? kMostPhaseBlocks : kMostBlocks;
  for (const PeerFacts& facts : all)
    most = std::min(most, in_phases ? 2 * facts.multiprocessors : facts.multiprocessors);
  if (const int told = all.front().settings.most_blocks; told > 0) most = std::min(most, told);
  return static_cast<std::uint32_t>(std::max(1, most));
}

}  // namespace lockstep::comm::p2p
