// What the processor can do, as far as numerical libraries have to be told.
#pragma once

namespace lockstep::device {

struct CpuFeatures {
  bool avx2 = false;    // with FMA
  bool avx512 = false;  // F, CD, BW, DQ and VL: what OpenBLAS calls SkylakeX
  // AMX is advertised but the tile palette is hidden, as some hypervisors do: using it is an illegal
  // instruction.
  bool amx_unusable = false;
};

// Asks CPUID; all false on other processors than x86-64.
CpuFeatures cpu_features();

}  // namespace lockstep::device
