// Splitting a group through the store: every rank says its colour and key, every rank reads all of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/comm/communicator.h"
#include "lockstep/comm/rendezvous/store.h"

namespace lockstep::comm {

// What one rank says when a group is split.
struct SplitVote {
  int colour = 0;
  int key = 0;
  std::string host;
};

std::string to_text(const SplitVote& vote);
SplitVote split_vote_from(const std::string& text);

// The group that `rank` is in after the votes of all ranks (by rank); nothing for a negative colour.
std::optional<Group> group_after(const std::vector<SplitVote>& votes, int rank);

// Collective: puts this rank's vote into the store and returns everybody's.
std::vector<SplitVote> exchange_votes(const Group& group, Store& store, const SplitVote& vote,
                                      base::Deadline deadline);

}  // namespace lockstep::comm
