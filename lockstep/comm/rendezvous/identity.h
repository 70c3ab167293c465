// Which rank this process is, and who said so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/comm/communicator.h"

namespace lockstep::comm {

// What flags say; nothing where a flag was not given.
struct IdentityFlags {
  std::optional<int> rank;
  std::optional<int> world;
  std::optional<std::string> master_addr;
  std::optional<int> master_port;
};

struct Identity {
  Group group;
  std::string source;       // "flags", "RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"
  std::string master_addr;  // empty: to be agreed on through MPI
  int master_port = 0;      // 0: likewise
  std::string token;        // hexadecimal; shared by the run's ranks and nobody else
  std::vector<std::string> disagreements;  // lower sources that say otherwise, for the log
};

// Looks for the rank in the design's order: flags, RANK/WORLD_SIZE, OMPI_COMM_WORLD_*, PMIx/PMI, SLURM_* with
// more than one task. Nothing when no source names one: then a local launcher starts the ranks. Throws
// ConfigError when flags contradict RANK, or when a source is incomplete.
std::optional<Identity> find_identity(const IdentityFlags& flags);

}  // namespace lockstep::comm
