// One operation on its way into MPI: its buffers cut into pieces that int counts can hold.
#pragma once

#include <algorithm>
#include <cstddef>

#include "lockstep/comm/mpi/mpi_call.h"
#include "lockstep/comm/mpi/mpi_collectives.h"
#include "lockstep/comm/mpi/mpi_types.h"

namespace lockstep::comm {

class MpiCallSite {
 public:
  MpiCallSite(const MpiGroup& group, const Operation& operation)
      : group_(group), operation_(operation), type_(mpi_type(operation.type())) {}

  void all_reduce(const Buffer& input, const Buffer& output) const;
  void reduce(const Buffer& input, const Buffer& output, int root) const;
  void broadcast(const Buffer& buffer, int root) const;
  void send(const Buffer& buffer, int peer) const;
  void receive(const Buffer& buffer, int peer) const;

 private:
  // Calls `call(offset_bytes, count)` for every piece of a buffer.
  template <typename Call>
  void for_each_piece(const Buffer& buffer, Call call) const {
    const std::size_t element_bytes = bytes_of(operation_.type());
    for (std::size_t begin = 0; begin < buffer.bytes / element_bytes; begin += group_.most_elements) {
      const std::size_t count = std::min(group_.most_elements, buffer.bytes / element_bytes - begin);
      check_mpi(call(begin * element_bytes, static_cast<int>(count)), group_.rank, describe(operation_));
    }
  }
  MPI_Op op() const { return mpi_op(operation_.reduce_op, operation_.type()); }

  const MpiGroup& group_;
  const Operation& operation_;
  MPI_Datatype type_;
};

}  // namespace lockstep::comm
