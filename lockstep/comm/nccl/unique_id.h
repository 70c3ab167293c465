// NCCL's unique id: made by rank 0, handed to the others through the store.
#pragma once

#include "lockstep/comm/communicator.h"
#include "lockstep/comm/nccl/nccl_library.h"
#include "lockstep/comm/rendezvous/store.h"

namespace lockstep::comm {

std::string to_hexadecimal(const ncclUniqueId& id);
ncclUniqueId unique_id_from(const std::string& hexadecimal);  // throws CommError when it is not one

// Collective.
ncclUniqueId agree_on_id(const NcclLibrary& library, const Group& group, Store& store,
                         base::Deadline deadline);

}  // namespace lockstep::comm
