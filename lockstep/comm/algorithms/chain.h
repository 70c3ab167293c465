// A chain orders the ranks by their distance from a root, so that rooted collectives can treat the root as
// number 0: position v is rank (root + v) modulo n.
#pragma once

#include "lockstep/comm/algorithms/exchange.h"

namespace lockstep::comm {

struct Chain {
  int root;
  int world;

  int position_of(int rank) const { return (rank - root + world) % world; }
  int rank_at(int position) const { return (position + root) % world; }
};

}  // namespace lockstep::comm
