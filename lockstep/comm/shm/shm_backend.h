// The backend shm: workers of one host through shared memory.
#pragma once

#include "lockstep/comm/backend.h"

namespace lockstep::comm {

class ShmBackend : public Backend {
 public:
  std::string_view name() const override { return "shm"; }
  Availability availability() const override;
  std::unique_ptr<Communicator> open(const Group& group, Store& store,
                                     const OpenOptions& options) const override;
};

}  // namespace lockstep::comm
