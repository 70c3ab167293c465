// Stands in for the p2p backend where it cannot be built, and says why.
#include "lockstep/comm/absent_backend.h"

#ifndef LOCKSTEP_WHY_ABSENT
#define LOCKSTEP_WHY_ABSENT "it was not built"
#endif

extern "C" __attribute__((visibility("default"))) const lockstep::comm::Backend* lockstep_backend_v1() {
  static const lockstep::comm::AbsentBackend backend("p2p", LOCKSTEP_WHY_ABSENT,
                                                     "Install it and build Lockstep again: make build.");
  return &backend;
}
