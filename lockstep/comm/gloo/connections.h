// The TCP connections between the ranks of a channel. gloo's own opening takes whoever connects first for the
// peer, and believes what it then reads; so the connections are made here, and gloo gets those alone whose
// other end has proved that it holds the run's key.
//
// Every rank listens at a port of its own, which it tells the others with a nonce through the run's store. A
// higher rank connects to a lower one and sends 4 bytes of magic, its rank (u32) and its proof (32 bytes);
// the lower one answers with its own proof. A proof is the HMAC, under the run's key, of the channel's name,
// both ranks, both nonces and the direction. Whoever sends anything else is dropped, and nothing has
// happened.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/unique_fd.h"
#include "lockstep/comm/communicator.h"
#include "lockstep/comm/rendezvous/store.h"

namespace lockstep::comm {

struct ConnectionOptions {
  std::string address;  // of this rank
  std::string key;      // the run's
  std::string channel;  // its name, different for every channel of a run
  base::Deadline deadline;
};

// Collective. One connection a peer, by rank; this rank's own is empty. Throws CommError.
std::vector<base::UniqueFd> connect_ranks(Store& store, const Group& group, const ConnectionOptions& options);

// Bytes that have arrived and were not read yet.
std::size_t unread_bytes(int socket);

}  // namespace lockstep::comm
