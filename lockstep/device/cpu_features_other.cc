// For processors other than x86-64, whose libraries find out by themselves.
#include "lockstep/device/cpu_features.h"

namespace lockstep::device {

CpuFeatures cpu_features() {
  return {};
}

}  // namespace lockstep::device
