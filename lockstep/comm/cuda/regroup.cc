#include "lockstep/comm/cuda/regroup.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <tuple>

namespace lockstep::comm {
namespace {

std::string vote_key(int rank) {
  return fmt::format("vote/{}", rank);
}

// The ranks of one colour in their new order.
std::vector<int> members_of(const std::vector<SplitVote>& votes, int colour) {
  std::vector<int> members;
  for (std::size_t rank = 0; rank < votes.size(); ++rank)
    if (votes[rank].colour == colour) members.push_back(static_cast<int>(rank));
  std::stable_sort(members.begin(), members.end(), [&](int one, int other) {
    return votes[static_cast<std::size_t>(one)].key < votes[static_cast<std::size_t>(other)].key;
  });
  return members;
}

}  // namespace

std::string to_text(const SplitVote& vote) {
  return fmt::format("{} {} {}", vote.colour, vote.key, vote.host);
}

SplitVote split_vote_from(const std::string& text) {
  SplitVote vote;
  std::istringstream(text) >> vote.colour >> vote.key >> vote.host;
  return vote;
}

std::optional<Group> group_after(const std::vector<SplitVote>& votes, int rank) {
  const SplitVote& own = votes[static_cast<std::size_t>(rank)];
  if (own.colour < 0) return std::nullopt;
  const std::vector<int> members = members_of(votes, own.colour);
  Group group;
  group.host = own.host;
  group.world = static_cast<int>(members.size());
  group.local_world = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i] == rank)
      std::tie(group.rank, group.local_rank) = std::tuple(static_cast<int>(i), group.local_world);
    if (votes[static_cast<std::size_t>(members[i])].host == own.host) ++group.local_world;
  }
  return group;
}

std::vector<SplitVote> exchange_votes(const Group& group, Store& store, const SplitVote& vote,
                                      base::Deadline deadline) {
  store.set(vote_key(group.rank), to_text(vote));
  std::vector<SplitVote> votes;
  for (int rank = 0; rank < group.world; ++rank)
    votes.push_back(split_vote_from(store.get(vote_key(rank), deadline)));
  return votes;
}

}  // namespace lockstep::comm
