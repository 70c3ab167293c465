// Which device a rank takes, and what must be known when ranks share one: NCCL refuses two ranks of one host
// on one GPU, so such ranks are told apart by a host id of their own (NCCL then connects them by sockets).
#pragma once

#include <string>

#include "lockstep/comm/backend.h"

namespace lockstep::comm {

struct DevicePlace {
  int device = 0;
  bool shared = false;  // another rank of the group is on the same GPU
};

// Collective: the ranks tell each other through the store which GPU each is on; a rank that does not arrive
// is named in the CommError at the deadline. Throws ConfigError for a device that does not exist.
DevicePlace agree_on_devices(const Group& group, Store& store, const OpenOptions& options,
                             base::Deadline deadline);

// Sets NCCL_HOSTID for a rank that shares its GPU, unless the user has set it.
void separate_from_sharers(const Group& group, const DevicePlace& place);

}  // namespace lockstep::comm
