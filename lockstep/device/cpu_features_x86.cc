#include <cpuid.h>

#include "lockstep/device/cpu_features.h"

namespace lockstep::device {
namespace {

struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

// All zero when the processor has no such leaf.
Registers cpuid(unsigned leaf, unsigned subleaf) {
  Registers registers;
  __get_cpuid_count(leaf, subleaf, &registers.eax, &registers.ebx, &registers.ecx, &registers.edx);
  return registers;
}

bool amx_advertised() {
  constexpr unsigned kAmxTile = 1U << 24;
  return (cpuid(7, 0).edx & kAmxTile) != 0;
}

bool tile_palette_hidden() {
  return cpuid(0x1d, 0).eax == 0;
}

}  // namespace

// __builtin_cpu_supports also asks whether the operating system saves the wide registers.
CpuFeatures cpu_features() {
  __builtin_cpu_init();
  CpuFeatures features;
  features.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  features.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
  features.amx_unusable = amx_advertised() && tile_palette_hidden();
  return features;
}

}  // namespace lockstep::device
