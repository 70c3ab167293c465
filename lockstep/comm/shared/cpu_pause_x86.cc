// x86-64: PAUSE.
#include "lockstep/comm/shared/cpu_pause.h"

namespace lockstep::comm::shared {

void cpu_pause() {
  __builtin_ia32_pause();
}

}  // namespace lockstep::comm::shared
