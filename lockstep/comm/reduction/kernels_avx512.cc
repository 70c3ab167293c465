// The reduction kernels for avx512; CMakeLists.txt sets this file's instruction set.
#include "lockstep/comm/reduction/kernels.inc"

namespace lockstep::comm::kernels {

const Table& avx512() {
  static constexpr Table kTable = make_table("avx512");
  return kTable;
}

}  // namespace lockstep::comm::kernels
