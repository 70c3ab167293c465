// x86-64: asks the processor what it can do.
#include "lockstep/comm/reduction/kernels.h"

namespace lockstep::comm::kernels {

int usable(const Table* (&tables)[kMostTables]) {
  int count = 0;
  tables[count++] = &baseline();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c")) tables[count++] = &avx2();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    tables[count++] = &avx512();
  return count;
}

}  // namespace lockstep::comm::kernels
