#include "lockstep/comm/p2p/peer_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "lockstep/base/error.h"
#include "lockstep/comm/p2p/arena_layout.h"

namespace lockstep::comm::p2p {
namespace {

[[noreturn]] void throw_unreadable() {
  throw base::CommError(base::CommError::Kind::failed,
                        "the store holds something else than what a rank says to open backend p2p");
}

std::string hexadecimal(const HandleBytes& bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
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

[[noreturn]] void throw_several_hosts(int rank, int peer) {
  throw base::ConfigError(fmt::format(
      "rank {}: backend p2p joins ranks of one host, which can map each other's memory, and rank {} "
      "is on another host. Use backend nccl.",
      rank, peer));
}

}  // namespace

std::string to_text(const PeerFacts& facts) {
  return fmt::format("{:x} {} {} {} {}", facts.process, facts.multiprocessors, facts.device,
                     hexadecimal(facts.handle), facts.host);
}

PeerFacts peer_facts_from(const std::string& text) {
  PeerFacts facts;
  std::string handle;
  std::istringstream words(text);
  words >> std::hex >> facts.process >> std::dec >> facts.multiprocessors >> facts.device >> handle;
  if (!words) throw_unreadable();
  words >> facts.host;  // may be empty
  facts.handle = handle_from(handle);
  return facts;
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

std::uint32_t most_blocks(const std::vector<PeerFacts>& all) {
  int fewest = kMostBlocks;
  for (const PeerFacts& facts : all) fewest = std::min(fewest, facts.multiprocessors);
  return static_cast<std::uint32_t>(std::max(1, fewest));
}

}  // namespace lockstep::comm::p2p
