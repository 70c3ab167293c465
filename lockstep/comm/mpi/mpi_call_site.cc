#include "lockstep/comm/mpi/mpi_call_site.h"

namespace lockstep::comm {
namespace {

constexpr int kTag = 1;

std::byte* at(const Buffer& buffer, std::size_t offset_bytes) {
  return static_cast<std::byte*>(buffer.data) + offset_bytes;
}

// MPI forbids the same memory as input and output; in place has a word of its own.
const void* input_at(const Buffer& input, const Buffer& output, std::size_t offset_bytes) {
  return input.data == output.data ? MPI_IN_PLACE : at(input, offset_bytes);
}

}  // namespace

void MpiCallSite::all_reduce(const Buffer& input, const Buffer& output) const {
  for_each_piece(output, [&](std::size_t offset, int count) {
    const void* in = input_at(input, output, offset);
    if (group_.style == MpiStyle::blocking)
      return MPI_Allreduce(in, at(output, offset), count, type_, op(), group_.comm);
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = MPI_Iallreduce(in, at(output, offset), count, type_, op(), group_.comm, &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
  });
}

void MpiCallSite::reduce(const Buffer& input, const Buffer& output, int root) const {
  const bool is_root = group_.rank == root;
  for_each_piece(input, [&](std::size_t offset, int count) {
    const void* in = is_root ? input_at(input, output, offset) : at(input, offset);
    return MPI_Reduce(in, is_root ? at(output, offset) : nullptr, count, type_, op(), root, group_.comm);
  });
}

void MpiCallSite::broadcast(const Buffer& buffer, int root) const {
  for_each_piece(buffer, [&](std::size_t offset, int count) {
    return MPI_Bcast(at(buffer, offset), count, type_, root, group_.comm);
  });
}

void MpiCallSite::send(const Buffer& buffer, int peer) const {
  for_each_piece(buffer, [&](std::size_t offset, int count) {
    return MPI_Send(at(buffer, offset), count, type_, peer, kTag, group_.comm);
  });
}

void MpiCallSite::receive(const Buffer& buffer, int peer) const {
  for_each_piece(buffer, [&](std::size_t offset, int count) {
    return MPI_Recv(at(buffer, offset), count, type_, peer, kTag, group_.comm, MPI_STATUS_IGNORE);
  });
}

}  // namespace lockstep::comm
