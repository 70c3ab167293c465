#include "lockstep/device/arithmetic_chains.h"
#include "lockstep/device/cpu_features.h"

namespace lockstep::device {

namespace plain {
extern const ArithmeticChains kArithmeticChains;
}
namespace avx2 {
extern const ArithmeticChains kArithmeticChains;
}
namespace avx512 {
extern const ArithmeticChains kArithmeticChains;
}

std::vector<ArithmeticChains> usable_chains() {
  const CpuFeatures features = cpu_features();
  std::vector<ArithmeticChains> chains{plain::kArithmeticChains};
  if (features.avx2) chains.push_back(avx2::kArithmeticChains);
  if (features.avx512) chains.push_back(avx512::kArithmeticChains);
  return chains;
}

}  // namespace lockstep::device
