// Where the gradients of a step lie until they are added up and after: one allocation of the communicator,
// every parameter's gradient by itself.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "lockstep/comm/communicator.h"
#include "lockstep/measure/memory_account.h"
#include "lockstep/models/gradient_slot.h"
#include "lockstep/models/model.h"

namespace lockstep::parallel::horovod {

class GradientPlaces {
 public:
  // Collective. Layers that can write a gradient themselves write it to its place.
  GradientPlaces(std::vector<models::NamedTensor> parameters,
                 std::vector<std::shared_ptr<models::GradientSlot>> slots, comm::Communicator& communicator,
                 measure::MemoryAccount& memory);

  const at::Tensor& view(std::size_t parameter) const { return views_[parameter]; }
  // All of them, as the communicator sees them.
  const std::vector<comm::Buffer>& buffers() const { return buffers_; }

  void begin_step();
  // Autograd has the gradient: into its place with it.
  void take(std::size_t parameter);
  // Whether this step has written it: autograd also tells of parameters that it has found no gradient for.
  bool has(std::size_t parameter) const { return written_[parameter]; }
  // A gradient that was not computed in this step is zero.
  void fill_if_missing(std::size_t parameter);

 private:
  std::vector<models::NamedTensor> parameters_;
  std::vector<std::shared_ptr<models::GradientSlot>> slots_;
  measure::Reservation reserved_;
  comm::Allocation memory_;
  std::vector<at::Tensor> views_;
  std::vector<comm::Buffer> buffers_;
  std::vector<bool> written_;  // in this step
};

}  // namespace lockstep::parallel::horovod
