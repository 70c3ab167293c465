// What becomes of a model's buffers (batch-norm statistics) when every worker has its own:
//   local      nothing; every worker keeps its own
//   broadcast  before every forward all take rank 0's
//   average    before every forward all take the mean (of counts: the largest)
//   sync       nothing: synchronised batch norms keep them equal
// Buffers of one type are laid one after another into the communicator's memory, so that one operation moves
// them all and nothing is copied.
#pragma once

#include <vector>

#include "lockstep/comm/communicator.h"
#include "lockstep/measure/memory_account.h"
#include "lockstep/measure/step_timer.h"
#include "lockstep/models/model.h"

namespace lockstep::parallel {

enum class BufferMode { local, broadcast, average, sync };
BufferMode buffer_mode(const std::string& name);  // of a spec that passed validation

class BufferSync {
 public:
  // Collective. The model's buffers keep their values and lie in memory of this object until it goes.
  BufferSync(const models::Model& model, BufferMode mode, comm::Communicator& communicator,
             measure::StepTimer& timer, measure::MemoryAccount& memory);
  ~BufferSync();
  BufferSync(const BufferSync&) = delete;
  BufferSync& operator=(const BufferSync&) = delete;

  void exchange();
  // Whether all workers have the same buffers after exchange().
  bool equal() const { return mode_ != BufferMode::local; }

 private:
  struct Group {  // of one element type
    std::vector<at::Tensor> tensors;
    measure::Reservation reserved;
    comm::Allocation memory;
    bool counts = false;
  };
  Group& group_of(const at::Tensor& buffer);
  void move_in(Group& group);
  comm::Operation operation_for(const Group& group) const;

  BufferMode mode_;
  comm::Communicator& communicator_;
  measure::StepTimer& timer_;
  measure::MemoryAccount& memory_;
  std::vector<Group> groups_;
};

}  // namespace lockstep::parallel
