// What a processor is told while it spins: that it waits, so that it saves power and lets its sibling work.
// CMakeLists.txt takes the file of this processor.
#pragma once

namespace lockstep::comm::shared {

void cpu_pause();

}  // namespace lockstep::comm::shared
