#include "lockstep/comm/shm/shm_backend.h"

#include "lockstep/base/error.h"

namespace lockstep::comm {

Availability ShmBackend::availability() const {
  return {false, "in the making", ""};
}

std::unique_ptr<Communicator> ShmBackend::open(const Group&, Store&, const OpenOptions&) const {
  throw base::DeviceError("in the making");
}

}  // namespace lockstep::comm
