// The reduction kernels for baseline; CMakeLists.txt sets this file's instruction set.
#include "lockstep/comm/reduction/kernels.inc"

namespace lockstep::comm::kernels {

const Table& baseline() {
  static constexpr Table kTable = make_table("baseline");
  return kTable;
}

}  // namespace lockstep::comm::kernels
