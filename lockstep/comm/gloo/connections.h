// The TCP connections inside a gloo context. gloo keeps its sockets to itself; they are found among the
// process's descriptors by their addresses, and duplicated, for what gloo leaves out: notice of a peer's
// death in the middle of a message, and giving up from another thread.
#pragma once

#include <gloo/context.h>

#include <vector>

#include "lockstep/base/unique_fd.h"

namespace lockstep::comm {

// One duplicate a peer, by rank; this rank's own and those not found are empty.
std::vector<base::UniqueFd> find_connections(gloo::Context& context);

// Bytes that have arrived and were not read yet.
std::size_t unread_bytes(int socket);

}  // namespace lockstep::comm
