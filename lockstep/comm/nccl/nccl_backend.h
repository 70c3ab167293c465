// The backend nccl: GPUs, through NVIDIA's library.
#pragma once

#include "lockstep/comm/backend.h"
#include "lockstep/comm/nccl/nccl_communicator.h"

namespace lockstep::comm {

class NcclBackend : public Backend {
 public:
  NcclBackend();
  std::string_view name() const override { return "nccl"; }
  Availability availability() const override;
  std::unique_ptr<Communicator> open(const Group& group, Store& store,
                                     const OpenOptions& options) const override;

 private:
  NcclLookup lookup_;
  std::shared_ptr<NcclProcess> process_;
};

}  // namespace lockstep::comm
