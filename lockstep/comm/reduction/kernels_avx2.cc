// The reduction kernels for avx2; CMakeLists.txt sets this file's instruction set.
#include "lockstep/comm/reduction/kernels.inc"

namespace lockstep::comm::kernels {

const Table& avx2() {
  static constexpr Table kTable = make_table("avx2");
  return kTable;
}

}  // namespace lockstep::comm::kernels
