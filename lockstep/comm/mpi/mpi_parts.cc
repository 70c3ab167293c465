#include "lockstep/comm/mpi/mpi_parts.h"

#include <cstring>
#include <vector>

#include "lockstep/comm/algorithms/bytes.h"
#include "lockstep/comm/mpi/mpi_call_site.h"

namespace lockstep::comm {
namespace {

// Counts and offsets of all parts in elements, as MPI takes them.
struct Layout {
  std::vector<int> counts, offsets;

  Layout(const MpiGroup& group, const Operation& operation) {
    const std::size_t element_bytes = bytes_of(operation.type());
    for (int rank = 0; rank < group.world; ++rank) {
      const Part part = part_of(operation, rank, group.world);
      counts.push_back(static_cast<int>(part.bytes / element_bytes));
      offsets.push_back(static_cast<int>(part.offset_bytes / element_bytes));
    }
  }
  int count_of(int rank) const { return counts[static_cast<std::size_t>(rank)]; }
};

bool fits(const MpiGroup& group, const Operation& operation) {
  return payload_bytes(operation, group.world) / bytes_of(operation.type()) <= group.most_elements;
}

Buffer part_in(const Buffer& whole, const MpiGroup& group, const Operation& operation, int rank) {
  const Part part = part_of(operation, rank, group.world);
  return whole.part(part.offset_bytes, part.bytes);
}

bool is_own_part(const Buffer& part, const Buffer& whole, const MpiGroup& group, const Operation& operation) {
  return part.data == part_in(whole, group, operation, group.rank).data;
}

// One rank's part after the other, each reduced to its owner.
void reduce_part_by_part(const MpiGroup& group, const Operation& operation, const Buffer& output) {
  const MpiCallSite site(group, operation);
  for (int rank = 0; rank < group.world; ++rank)
    site.reduce(part_in(operation.input, group, operation, rank), output, rank);
}

void reduce_scatter_into(const MpiGroup& group, const Operation& operation, const Buffer& output) {
  if (!fits(group, operation)) return reduce_part_by_part(group, operation, output);
  const Layout layout(group, operation);
  check_mpi(
      MPI_Reduce_scatter(operation.input.data, output.data, layout.counts.data(), mpi_type(operation.type()),
                         mpi_op(operation.reduce_op, operation.type()), group.comm),
      group.rank, describe(operation));
}

}  // namespace

void mpi_reduce_scatter(const MpiGroup& group, const Operation& operation) {
  if (!overlap(operation.input, operation.output))
    return reduce_scatter_into(group, operation, operation.output);
  // MPI's own in-place form leaves the part at the start of the input; ours is where the caller wants it.
  std::vector<std::byte> part(operation.output.bytes);
  reduce_scatter_into(group, operation,
                      {part.data(), part.size(), operation.output.type, operation.output.place});
  copy_unless_same(operation.output.data, part.data(), part.size());
}

void mpi_all_gather(const MpiGroup& group, const Operation& operation) {
  const Buffer own = part_in(operation.output, group, operation, group.rank);
  if (!fits(group, operation)) {
    copy_unless_same(own.data, operation.input.data, own.bytes);
    const MpiCallSite site(group, operation);
    for (int rank = 0; rank < group.world; ++rank)
      site.broadcast(part_in(operation.output, group, operation, rank), rank);
    return;
  }
  const Layout layout(group, operation);
  const MPI_Datatype type = mpi_type(operation.type());
  const void* input = operation.input.data == own.data ? MPI_IN_PLACE : operation.input.data;
  const int count = layout.count_of(group.rank);
  const int code = operation.counts.empty()
                       ? MPI_Allgather(input, count, type, operation.output.data, count, type, group.comm)
                       : MPI_Allgatherv(input, count, type, operation.output.data, layout.counts.data(),
                                        layout.offsets.data(), type, group.comm);
  check_mpi(code, group.rank, describe(operation));
}

void mpi_gather(const MpiGroup& group, const Operation& operation) {
  const bool is_root = group.rank == operation.root;
  if (!fits(group, operation)) {
    const MpiCallSite site(group, operation);
    if (!is_root) return site.send(operation.input, operation.root);
    const Buffer own = part_in(operation.output, group, operation, group.rank);
    copy_unless_same(own.data, operation.input.data, own.bytes);
    for (int rank = 0; rank < group.world; ++rank)
      if (rank != group.rank) site.receive(part_in(operation.output, group, operation, rank), rank);
    return;
  }
  const Layout layout(group, operation);
  const MPI_Datatype type = mpi_type(operation.type());
  const bool in_place = is_root && is_own_part(operation.input, operation.output, group, operation);
  check_mpi(MPI_Gatherv(in_place ? MPI_IN_PLACE : operation.input.data, layout.count_of(group.rank), type,
                        operation.output.data, layout.counts.data(), layout.offsets.data(), type,
                        operation.root, group.comm),
            group.rank, describe(operation));
}

void mpi_scatter(const MpiGroup& group, const Operation& operation) {
  const bool is_root = group.rank == operation.root;
  if (!fits(group, operation)) {
    const MpiCallSite site(group, operation);
    if (!is_root) return site.receive(operation.output, operation.root);
    for (int rank = 0; rank < group.world; ++rank)
      if (rank != group.rank) site.send(part_in(operation.input, group, operation, rank), rank);
    const Buffer own = part_in(operation.input, group, operation, group.rank);
    return copy_unless_same(operation.output.data, own.data, own.bytes);
  }
  const Layout layout(group, operation);
  const MPI_Datatype type = mpi_type(operation.type());
  const bool in_place = is_root && is_own_part(operation.output, operation.input, group, operation);
  check_mpi(MPI_Scatterv(operation.input.data, layout.counts.data(), layout.offsets.data(), type,
                         in_place ? MPI_IN_PLACE : operation.output.data, layout.count_of(group.rank), type,
                         operation.root, group.comm),
            group.rank, describe(operation));
}

}  // namespace lockstep::comm
