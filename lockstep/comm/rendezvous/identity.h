// Which rank this process is, where its run meets, and who said so.
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
  // What the launcher says of the ranks of this host is a guess, good until the ranks meet and find out.
  bool local_known = false;
  int hosts = 0;       // that the ranks are on; 0 until they have met
  std::string source;  // "flags", "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"
  std::string master_addr;  // empty: rank 0 says where it serves in the meeting file
  int master_port = 0;      // 0: likewise, or any free one when the world is 1
  std::string job;          // what this run's ranks have in common and no other's: the meeting file's name
  std::string key;          // empty: in the meeting file
  bool launcher_serves = false;  // a launcher of ours serves and tells of failures; else rank 0 does
  std::vector<std::string> disagreements;  // lower sources that say otherwise, for the log
};

// Looks for the rank in the design's order: flags, RANK/WORLD_SIZE, OMPI_COMM_WORLD_*, PMIx/PMI, SLURM_* with
// more than one task. Nothing when no source names one: then a local launcher starts the ranks. Throws
// ConfigError when flags contradict RANK, or when a source is incomplete.
std::optional<Identity> find_identity(const IdentityFlags& flags);

// Whether a person or a script started this rank alone; else a launcher did, which passes on to its ranks
// what is sent to the run.
bool started_by_hand(const Identity& identity);

// "rank 1 of 4, as RANK says; the launcher serves at 127.0.0.1:40321", for the log.
std::string describe(const Identity& identity);

}  // namespace lockstep::comm
