#include "lockstep/comm/nccl/nccl_operations.h"

#include <algorithm>
#include <array>

#include "lockstep/device/cuda/cuda_memory.h"

namespace lockstep::comm {
namespace {

constexpr std::array<ncclDataType_t, kElementTypeCount> kTypes = {
    ncclFloat32, ncclFloat64, ncclFloat16, ncclBfloat16, ncclInt32, ncclInt64, ncclUint8};
constexpr std::array<ncclRedOp_t, kReduceOpCount> kReduceOps = {ncclSum, ncclAvg, ncclMax, ncclMin};

// One operation in NCCL's terms. Every function makes the calls of one collective and returns the first
// result that is neither success nor "in progress".
struct Caller {
  const NcclLibrary& nccl;
  ncclComm_t comm;
  const Operation& operation;
  const NcclIssue& to;

  ncclDataType_t type() const { return kTypes[static_cast<std::size_t>(operation.type())]; }
  // The mean of one rank is its sum: NCCL 2.28's kernel for it leaves the last elements of some sizes out.
  ncclRedOp_t reduce_op() const {
    const bool alone = to.group.world == 1 && operation.reduce_op == ReduceOp::mean;
    return alone ? ncclSum : kReduceOps[static_cast<std::size_t>(operation.reduce_op)];
  }
  bool is_root() const { return operation.root == to.group.rank; }
  std::size_t count_of(std::size_t bytes) const { return bytes / bytes_of(operation.type()); }

  ncclResult_t call() const;
  ncclResult_t reduce_scatter() const;
  ncclResult_t all_gather() const;
  ncclResult_t gather() const;
  ncclResult_t scatter() const;
  ncclResult_t barrier() const;
  template <typename Call>
  ncclResult_t for_each_part(Call call) const;
  template <typename Call>
  ncclResult_t for_each_peer_part(Call call) const;
};

bool went_well(ncclResult_t result) {
  return result == ncclSuccess || result == ncclInProgress;
}

bool has_equal_parts(const Operation& operation) {
  const auto& counts = operation.counts;
  return std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) == counts.end();
}

template <typename Call>
ncclResult_t Caller::for_each_part(Call call) const {
  for (int rank = 0; rank < to.group.world; ++rank) {
    const Part part = part_of(operation, rank, to.group.world);
    if (part.bytes == 0) continue;
    const ncclResult_t result = call(rank, part);
    if (!went_well(result)) return result;
  }
  return ncclSuccess;
}

template <typename Call>
ncclResult_t Caller::for_each_peer_part(Call call) const {
  return for_each_part(
      [&](int rank, const Part& part) { return rank == to.group.rank ? ncclSuccess : call(rank, part); });
}

std::byte* at(const Buffer& buffer, const Part& part) {
  return static_cast<std::byte*>(buffer.data) + part.offset_bytes;
}

ncclResult_t Caller::reduce_scatter() const {
  const Buffer& in = operation.input;
  const Buffer& out = operation.output;
  if (has_equal_parts(operation))
    return nccl.reduce_scatter(in.data, out.data, out.count(), type(), reduce_op(), comm, to.stream);
  return for_each_part([&](int root, const Part& part) {
    return nccl.reduce(at(in, part), out.data, count_of(part.bytes), type(), reduce_op(), root, comm,
                       to.stream);
  });
}

ncclResult_t Caller::all_gather() const {
  const Buffer& in = operation.input;
  const Buffer& out = operation.output;
  if (has_equal_parts(operation))
    return nccl.all_gather(in.data, out.data, in.count(), type(), comm, to.stream);
  return for_each_part([&](int root, const Part& part) {
    const void* source = root == to.group.rank ? in.data : at(out, part);
    return nccl.broadcast(source, at(out, part), count_of(part.bytes), type(), root, comm, to.stream);
  });
}

ncclResult_t Caller::gather() const {
  const Buffer& in = operation.input;
  if (!is_root())
    return in.bytes == 0 ? ncclSuccess
                         : nccl.send(in.data, in.count(), type(), operation.root, comm, to.stream);
  return for_each_peer_part([&](int rank, const Part& part) {
    return nccl.receive(at(operation.output, part), count_of(part.bytes), type(), rank, comm, to.stream);
  });
}

ncclResult_t Caller::scatter() const {
  const Buffer& out = operation.output;
  if (!is_root())
    return out.bytes == 0 ? ncclSuccess
                          : nccl.receive(out.data, out.count(), type(), operation.root, comm, to.stream);
  return for_each_peer_part([&](int rank, const Part& part) {
    return nccl.send(at(operation.input, part), count_of(part.bytes), type(), rank, comm, to.stream);
  });
}

ncclResult_t Caller::barrier() const {
  return nccl.all_reduce(to.token, to.token, 1, ncclInt32, ncclMax, comm, to.stream);
}

ncclResult_t Caller::call() const {
  const Buffer& in = operation.input;
  const Buffer& out = operation.output;
  switch (operation.collective) {
    case Collective::all_reduce:
      return nccl.all_reduce(in.data, out.data, in.count(), type(), reduce_op(), comm, to.stream);
    case Collective::reduce:
      return nccl.reduce(in.data, out.data, in.count(), type(), reduce_op(), operation.root, comm, to.stream);
    case Collective::reduce_scatter:
      return reduce_scatter();
    case Collective::all_gather:
      return all_gather();
    case Collective::broadcast:
      return nccl.broadcast(in.data, out.data, in.count(), type(), operation.root, comm, to.stream);
    case Collective::gather:
      return gather();
    case Collective::scatter:
      return scatter();
    case Collective::send:
      return nccl.send(in.data, in.count(), type(), operation.root, comm, to.stream);
    case Collective::receive:
      return nccl.receive(out.data, out.count(), type(), operation.root, comm, to.stream);
    case Collective::barrier:
      return barrier();
  }
  return ncclInvalidArgument;
}

// The root's own part of a gather or scatter does not pass through NCCL.
void copy_own_part(const Operation& operation, const NcclIssue& to) {
  if (operation.root != to.group.rank) return;
  const Part own = part_of(operation, to.group.rank, to.group.world);
  if (operation.collective == Collective::gather)
    device::cuda::copy_on_stream(at(operation.output, own), operation.input.data, own.bytes, to.stream);
  if (operation.collective == Collective::scatter)
    device::cuda::copy_on_stream(operation.output.data, at(operation.input, own), own.bytes, to.stream);
}

}  // namespace

void issue_operation(NcclHandle& handle, const Operation& operation, const NcclIssue& to) {
  const bool moves_something =
      operation.collective == Collective::barrier || payload_bytes(operation, to.group.world) > 0;
  if (!moves_something) return;
  copy_own_part(operation, to);
  handle.issue(
      [&](const NcclLibrary& nccl, ncclComm_t comm) {
        return Caller{nccl, comm, operation, to}.call();
      },
      describe(operation), to.deadline);
}

}  // namespace lockstep::comm
