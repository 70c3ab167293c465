// 64-bit ARM: ISB, which waits about as long as PAUSE does; YIELD does nothing there.
#include "lockstep/comm/shared/cpu_pause.h"

namespace lockstep::comm::shared {

void cpu_pause() {
  asm volatile("isb" ::: "memory");
}

}  // namespace lockstep::comm::shared
