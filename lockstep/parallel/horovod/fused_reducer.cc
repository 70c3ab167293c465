#include "lockstep/parallel/horovod/fused_reducer.h"

#include "lockstep/comm/operation.h"

namespace lockstep::parallel::horovod {
namespace {

std::vector<std::uint64_t> sent_bytes_of(const std::vector<comm::Buffer>& tensors, Compression compression) {
  std::vector<std::uint64_t> bytes;
  for (const comm::Buffer& tensor : tensors) bytes.push_back(compression.sent_bytes(tensor));
  return bytes;
}

}  // namespace

FusedReducer::FusedReducer(std::vector<comm::Buffer> tensors, Compression compression,
                           std::uint64_t threshold, comm::Communicator& data, measure::MemoryAccount& memory)
    : tensors_(std::move(tensors)),
      compression_(compression),
      threshold_(threshold),
      data_(data),
      sent_bytes_(sent_bytes_of(tensors_, compression)),
      reserved_(memory, measure::Use::communication, fusion_buffer_bytes(sent_bytes_, threshold)),
      buffer_(data.allocate(fusion_buffer_bytes(sent_bytes_, threshold))) {}

std::vector<FusedGroup> FusedReducer::plan(std::span<const std::size_t> ready) const {
  return plan_fusion(ready, sent_bytes_, threshold_);
}

std::uint64_t FusedReducer::sent_bytes(const FusedGroup& group) const {
  std::uint64_t bytes = 0;
  for (const std::size_t tensor : group) bytes += sent_bytes_[tensor];
  return bytes;
}

void FusedReducer::reduce(const FusedGroup& group) {
  const bool in_place = goes_in_place(group);
  const comm::Buffer sum = in_place ? tensors_[group.front()] : fill(group);
  data_.run(comm::all_reduce(sum, comm::ReduceOp::sum, comm::Purpose::gradient));
  if (!in_place) empty(group);
}

bool FusedReducer::goes_in_place(const FusedGroup& group) const {
  return group.size() == 1 && !compression_.on();
}

comm::Buffer FusedReducer::fill(const FusedGroup& group) {
  const comm::Buffer whole = buffer_.buffer(compression_.sent_type(tensors_[group.front()].type));
  std::size_t offset = 0;
  for (const std::size_t tensor : group) {
    compression_.pack(whole.part(offset, sent_bytes_[tensor]), tensors_[tensor]);
    offset += sent_bytes_[tensor];
  }
  return whole.part(0, offset);
}

void FusedReducer::empty(const FusedGroup& group) {
  const comm::Buffer whole = buffer_.buffer(compression_.sent_type(tensors_[group.front()].type));
  std::size_t offset = 0;
  for (const std::size_t tensor : group) {
    compression_.unpack(tensors_[tensor], whole.part(offset, sent_bytes_[tensor]));
    offset += sent_bytes_[tensor];
  }
}

}  // namespace lockstep::parallel::horovod
