#include "lockstep/comm/mpi/mpi_types.h"

#include "lockstep/comm/reduction/reduction.h"

namespace lockstep::comm {
namespace {

// What MPI calls for 16-bit floats: inout = in op inout.
template <ReduceOp op, ElementType type>
void reduce_16_bit(void* in, void* inout, int* count, MPI_Datatype*) {
  combine(op, type, inout, in, static_cast<std::size_t>(*count));
}

// A datatype or operation of ours, made when MPI is running and kept until the process ends.
MPI_Datatype two_bytes() {
  static const MPI_Datatype type = [] {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_BYTE, &made);
    MPI_Type_commit(&made);
    return made;
  }();
  return type;
}

template <ReduceOp op, ElementType type>
MPI_Op own_op() {
  static const MPI_Op made = [] {
    MPI_Op created = MPI_OP_NULL;
    MPI_Op_create(&reduce_16_bit<op, type>, 1, &created);
    return created;
  }();
  return made;
}

template <ElementType type>
MPI_Op op_of_16_bit(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::mean:
      return own_op<ReduceOp::sum, type>();
    case ReduceOp::max:
      return own_op<ReduceOp::max, type>();
    case ReduceOp::min:
      return own_op<ReduceOp::min, type>();
  }
  return MPI_OP_NULL;
}

}  // namespace

MPI_Datatype mpi_type(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return MPI_FLOAT;
    case ElementType::f64:
      return MPI_DOUBLE;
    case ElementType::f16:
    case ElementType::bf16:
      return two_bytes();
    case ElementType::i32:
      return MPI_INT32_T;
    case ElementType::i64:
      return MPI_INT64_T;
    case ElementType::u8:
      return MPI_UINT8_T;
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op mpi_op(ReduceOp op, ElementType type) {
  if (type == ElementType::f16) return op_of_16_bit<ElementType::f16>(op);
  if (type == ElementType::bf16) return op_of_16_bit<ElementType::bf16>(op);
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::mean:
      return MPI_SUM;
    case ReduceOp::max:
      return MPI_MAX;
    case ReduceOp::min:
      return MPI_MIN;
  }
  return MPI_OP_NULL;
}

}  // namespace lockstep::comm
