// Which CUDA device a rank takes, and whether others of its group are on the same one.
#pragma once

#include <string>
#include <string_view>

#include "lockstep/comm/backend.h"

namespace lockstep::comm {

struct DevicePlace {
  int device = 0;
  bool shared = false;  // another rank of the group is on the same GPU
};

// The device that the options name, else the local rank's turn among those there are. Throws DeviceError
// where there is none, ConfigError for one that does not exist.
int choose_device(std::string_view backend, const Group& group, const OpenOptions& options);

// Waits for what rank `rank` puts into the store under `key`; a rank that does not come to open `backend` is
// named in the CommError at the deadline.
std::string value_of_rank(std::string_view backend, Store& store, const Group& group, int rank,
                          const std::string& key, base::Deadline deadline);

// Collective: the ranks choose their devices and tell each other through the store which GPU each is on.
DevicePlace agree_on_devices(std::string_view backend, const Group& group, Store& store,
                             const OpenOptions& options, base::Deadline deadline);

}  // namespace lockstep::comm
