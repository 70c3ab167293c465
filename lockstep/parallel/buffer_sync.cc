#include "lockstep/parallel/buffer_sync.h"

#include <ATen/ATen.h>

#include "lockstep/base/error.h"
#include "lockstep/comm/operation.h"
#include "lockstep/parallel/tensor_buffer.h"

namespace lockstep::parallel {
namespace {

// Frozen units leave their statistics alone: there is nothing to exchange.
std::vector<at::Tensor> moving_buffers(const models::Model& model) {
  std::vector<at::Tensor> moving;
  for (models::Unit* unit : models::all_units(model.root())) {
    if (unit->frozen()) continue;
    for (const models::Parameter& buffer : unit->own_buffers()) moving.push_back(buffer.value);
  }
  return moving;
}

}  // namespace

BufferMode buffer_mode(const std::string& name) {
  if (name == "local") return BufferMode::local;
  if (name == "average") return BufferMode::average;
  return name == "sync" ? BufferMode::sync : BufferMode::broadcast;
}

BufferSync::BufferSync(const models::Model& model, BufferMode mode, comm::Communicator& communicator,
                       measure::StepTimer& timer, measure::MemoryAccount& memory)
    : mode_(mode), communicator_(communicator), timer_(timer), memory_(memory) {
  if (mode == BufferMode::local || mode == BufferMode::sync) return;
  for (const at::Tensor& buffer : moving_buffers(model)) group_of(buffer).tensors.push_back(buffer);
  for (Group& group : groups_) move_in(group);
}

BufferSync::Group& BufferSync::group_of(const at::Tensor& buffer) {
  for (Group& group : groups_) {
    if (group.tensors.front().scalar_type() == buffer.scalar_type()) return group;
  }
  return groups_.emplace_back();
}

// The tensors themselves stay; only where their values lie changes.
void BufferSync::move_in(Group& group) {
  std::size_t bytes = 0;
  for (const at::Tensor& tensor : group.tensors) bytes += tensor.nbytes();
  group.reserved = measure::Reservation(memory_, measure::Use::communication, bytes);
  group.memory = communicator_.allocate(bytes);
  group.counts = at::isIntegralType(group.tensors.front().scalar_type(), true);
  auto* place = static_cast<std::byte*>(group.memory.data());
  for (at::Tensor& tensor : group.tensors) {
    at::Tensor view = tensor_at(place, tensor);
    view.copy_(tensor);
    tensor.set_data(view);
    place += tensor.nbytes();
  }
}

BufferSync::~BufferSync() {
  for (Group& group : groups_) {
    for (at::Tensor& tensor : group.tensors) tensor.set_data(tensor.clone());
  }
}

comm::Operation BufferSync::operation_for(const Group& group) const {
  const comm::Buffer buffer = group.memory.buffer(element_type(group.tensors.front().scalar_type()));
  if (mode_ == BufferMode::broadcast) return comm::broadcast(buffer, 0, comm::Purpose::buffer);
  const comm::ReduceOp op = group.counts ? comm::ReduceOp::max : comm::ReduceOp::mean;
  return comm::all_reduce(buffer, op, comm::Purpose::buffer);
}

void BufferSync::exchange() {
  if (groups_.empty()) return;
  const measure::SpanScope span(timer_, measure::Span::exposed_comm, measure::Purpose::buffer);
  for (const Group& group : groups_) communicator_.run(operation_for(group));
}

}  // namespace lockstep::parallel
