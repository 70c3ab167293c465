#include "lockstep/comm/local/local_backend.h"

#include "lockstep/base/error.h"

namespace lockstep::comm {

Availability LocalBackend::availability() const {
  return {false, "in the making", ""};
}

std::unique_ptr<Communicator> LocalBackend::open(const Group&, Store&, const OpenOptions&) const {
  throw base::DeviceError("in the making");
}

}  // namespace lockstep::comm
