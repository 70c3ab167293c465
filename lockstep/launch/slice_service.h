// NVIDIA's Multi-Process Service, started for one run and ended with it: through it several workers compute
// on one GPU at the same time, each on a fixed share.
#pragma once

#include "lockstep/launch/janitor.h"
#include "lockstep/launch/private_directory.h"
#include "lockstep/launch/process.h"
#include "lockstep/launch/rank_environment.h"

namespace lockstep::launch {

class SliceService {
 public:
  // Has directories of its own, so that it neither finds nor disturbs a service that runs already. To be
  // called before the process has threads. Throws DeviceError with the reason when it cannot be had.
  SliceService();
  // Ends it. When this process is killed, a janitor does.
  ~SliceService();

  // What leads a process to it.
  Variables variables() const;

 private:
  PrivateDirectory directory_;
  Process control_;
  Janitor janitor_;
};

}  // namespace lockstep::launch
