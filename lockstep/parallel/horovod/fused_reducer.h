// Adds up groups of tensors over all ranks: copies them into the fusion buffer, reduces that, and copies the
// sums back. A tensor that goes alone and as it is is reduced where it lies. In memory of the host this is
// done without torch, so that it may run on any thread; in a GPU's, by what the calling thread computes on.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lockstep/comm/communicator.h"
#include "lockstep/measure/memory_account.h"
#include "lockstep/parallel/compression.h"
#include "lockstep/parallel/horovod/fusion.h"

namespace lockstep::parallel::horovod {

class FusedReducer {
 public:
  // Collective. `tensors` lie in memory of `data`; both outlive the reducer.
  FusedReducer(std::vector<comm::Buffer> tensors, Compression compression, std::uint64_t threshold,
               comm::Communicator& data, measure::MemoryAccount& memory);

  std::vector<FusedGroup> plan(std::span<const std::size_t> ready) const;
  // Bytes of the group as they are sent.
  std::uint64_t sent_bytes(const FusedGroup& group) const;
  // Collective: every rank gives the same groups in the same order. On a GPU it returns before that is done.
  // Throws CommError.
  void reduce(const FusedGroup& group);

 private:
  bool goes_in_place(const FusedGroup& group) const;
  comm::Buffer fill(const FusedGroup& group);
  void empty(const FusedGroup& group);

  std::vector<comm::Buffer> tensors_;
  Compression compression_;
  std::uint64_t threshold_;
  comm::Communicator& data_;
  std::vector<std::uint64_t> sent_bytes_;  // by tensor
  measure::Reservation reserved_;
  comm::Allocation buffer_;
};

}  // namespace lockstep::parallel::horovod
