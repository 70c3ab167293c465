// Any other processor: nothing but a barrier that keeps the compiler from merging the looks.
#include "lockstep/comm/shared/cpu_pause.h"

namespace lockstep::comm::shared {

void cpu_pause() {
  asm volatile("" ::: "memory");
}

}  // namespace lockstep::comm::shared
