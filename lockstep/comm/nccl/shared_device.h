// What differs for NCCL where ranks of a group share a GPU.
//
// NCCL refuses two ranks of one host on one GPU, so ranks that share one are told apart by a host id of their
// own (NCCL then connects them by sockets). And its kernels wait on the device for those of the peers, whose
// ranks compute on the same device: the fewer blocks wait, the more room is left for what they wait for.
#pragma once

#include "lockstep/comm/cuda/device_place.h"

namespace lockstep::comm {

// Collective, and the same answer on every rank: whether any two of the group are on one GPU.
bool any_share_a_device(const Group& group, const DevicePlace& place, Store& store, base::Deadline deadline);

// Before NCCL first looks: sets what it reads from the environment for a rank of a group in which some share
// a GPU (docs/gpu.md has the list). What the user has set stays.
void adapt_to_shared_devices(const Group& group, bool shares_device);

}  // namespace lockstep::comm
