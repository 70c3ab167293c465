// For processors other than x86-64, whose vectors the compiler knows by itself.
#include "lockstep/device/arithmetic_chains.h"

namespace lockstep::device {

namespace plain {
extern const ArithmeticChains kArithmeticChains;
}

std::vector<ArithmeticChains> usable_chains() {
  return {plain::kArithmeticChains};
}

}  // namespace lockstep::device
