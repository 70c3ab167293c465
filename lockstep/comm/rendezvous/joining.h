// Reaching the run's server and being let in.
#pragma once

#include "lockstep/comm/rendezvous/protocol.h"
#include "lockstep/comm/rendezvous/run_client.h"

namespace lockstep::comm {

// A connection over which the server has accepted this rank.
struct Joined {
  base::UniqueFd fd;
  FrameReader reader;  // may hold frames that came with the answer
  MeetingPoint met_at;
};

// Tries again, with growing pauses, while no server answers. Throws as RunClient's constructor does.
Joined join_server(const RunClientOptions& options, base::Deadline deadline);

}  // namespace lockstep::comm
