// The backend local: replicas inside one process, each used by a thread of its own. Every replica's memory
// can be reached by the others, so everything happens in place.
#pragma once

#include <memory>
#include <vector>

#include "lockstep/comm/backend.h"
#include "lockstep/comm/shared/hands.h"

namespace lockstep::comm {

class LocalBackend : public Backend {
 public:
  std::string_view name() const override { return "local"; }
  Availability availability() const override;
  // Only for a world of one: replicas of one process are opened together, by open_local_group().
  std::unique_ptr<Communicator> open(const Group& group, Store& store,
                                     const OpenOptions& options) const override;
};

// One communicator for each of `replicas` threads of this process. `device_hands`, where given, has for each
// replica what moves its buffers on a GPU; without them only the host's memory is served.
std::vector<std::unique_ptr<Communicator>> open_local_group(
    int replicas, const OpenOptions& options, std::vector<std::unique_ptr<shared::Hands>> device_hands = {});

}  // namespace lockstep::comm
