#include "lockstep/comm/p2p/phases.h"

namespace lockstep::comm::p2p {
namespace {

std::vector<Phase> phases_of_message(bool sends, std::uint32_t rounds) {
  std::vector<Phase> phases;
  if (!sends) phases.push_back({Step::note, 0, Meeting::none, Meeting::none, false, false});
  for (std::uint32_t round = 0; round < rounds; ++round)
    phases.push_back(sends ? Phase{Step::send, round, Meeting::taken, Meeting::mailed, false, false}
                           : Phase{Step::receive, round, Meeting::mailed, Meeting::taken, false, false});
  phases.front().first = true;
  phases.back().last = true;
  return phases;
}

}  // namespace

std::vector<Phase> phases_of(Algorithm algorithm, bool sends, std::uint32_t rounds) {
  if (algorithm == Algorithm::message) return phases_of_message(sends, rounds);
  std::vector<Phase> phases;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    phases.push_back({Step::publish, round, Meeting::read, Meeting::ready, round == 0, false});
    if (algorithm == Algorithm::two_shot) {
      phases.push_back({Step::reduce, round, Meeting::ready, Meeting::reduced, false, false});
      phases.push_back({Step::pull, round, Meeting::reduced, Meeting::read, false, false});
    } else {
      const Step step = reduces(algorithm) ? Step::reduce : Step::pull;
      phases.push_back({step, round, Meeting::ready, Meeting::read, false, false});
    }
  }
  phases.back().last = true;
  return phases;
}

}  // namespace lockstep::comm::p2p
