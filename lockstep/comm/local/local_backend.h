// The backend local: replicas inside one process.
#pragma once

#include "lockstep/comm/backend.h"

namespace lockstep::comm {

class LocalBackend : public Backend {
 public:
  std::string_view name() const override { return "local"; }
  Availability availability() const override;
  std::unique_ptr<Communicator> open(const Group& group, Store& store,
                                     const OpenOptions& options) const override;
};

}  // namespace lockstep::comm
