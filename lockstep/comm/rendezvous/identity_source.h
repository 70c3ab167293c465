// The sources that can say which rank a process is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/comm/rendezvous/identity.h"

namespace lockstep::comm {

// What one source says.
struct SourceReading {
  std::string source;
  int rank = 0;
  std::optional<int> world;  // PMIx tells the rank alone
  std::optional<int> local_rank;
  std::optional<int> local_world;
};

// What each source that is present says, the highest first. Throws ConfigError when the first of them is
// incomplete or holds something that is no number; a lower one in that state is left out.
std::vector<SourceReading> read_sources(const IdentityFlags& flags);

// How many tasks Slurm's "2(x3),1" puts on a node, counted from 0; nothing where it says nothing of that
// node.
std::optional<int> slurm_tasks_on(const std::string& tasks_per_node, int node);

}  // namespace lockstep::comm
