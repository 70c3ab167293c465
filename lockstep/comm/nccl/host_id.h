// NCCL refuses two ranks of one host on one GPU, so ranks that share one are told apart by a host id of their
// own (NCCL then connects them by sockets).
#pragma once

#include "lockstep/comm/cuda/device_place.h"

namespace lockstep::comm {

// Sets NCCL_HOSTID for a rank that shares its GPU, unless the user has set it.
void separate_from_sharers(const Group& group, const DevicePlace& place);

}  // namespace lockstep::comm
