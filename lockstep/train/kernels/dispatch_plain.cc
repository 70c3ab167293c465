// For processors without variants of ours: the one copy there is.
#include "lockstep/train/kernels/update.h"

namespace lockstep::train::kernels {

namespace plain {
extern const UpdateKernels kUpdate;
}

int runnable_update_kernels(const UpdateKernels* (&kernels)[3]) {
  kernels[0] = &plain::kUpdate;
  return 1;
}

const UpdateKernels& update_kernels() {
  return plain::kUpdate;
}

}  // namespace lockstep::train::kernels
