// Where the ranks of a run meet: told by flags or MASTER_ADDR and MASTER_PORT, or written into the meeting
// file by rank 0 of an srun or mpirun.
#pragma once

#include <string>

#include "lockstep/comm/rendezvous/identity.h"

namespace lockstep::comm {

// Fills master_addr, master_port, job and launcher_serves. Throws ConfigError that says what to set when the
// ranks have no way to meet.
void find_meeting_place(const IdentityFlags& flags, Identity& identity);

// The first host of a Slurm node list: "node[03-05,9],other7" gives "node03".
std::string first_slurm_host(const std::string& node_list);

}  // namespace lockstep::comm
