#include "lockstep/parallel/horovod/gradient_places.h"

#include <ATen/ATen.h>

#include "lockstep/parallel/tensor_buffer.h"

namespace lockstep::parallel::horovod {
namespace {

constexpr std::size_t kLine = 64;  // a place begins on a cache line of its own

std::size_t rounded_up(std::size_t bytes) {
  return (bytes + kLine - 1) / kLine * kLine;
}

std::size_t total_bytes(const std::vector<models::NamedTensor>& parameters) {
  std::size_t bytes = 0;
  for (const models::NamedTensor& parameter : parameters) bytes += rounded_up(parameter.tensor.nbytes());
  return bytes;
}

}  // namespace

GradientPlaces::GradientPlaces(std::vector<models::NamedTensor> parameters,
                               std::vector<std::shared_ptr<models::GradientSlot>> slots,
                               comm::Communicator& communicator, measure::MemoryAccount& memory)
    : parameters_(std::move(parameters)),
      slots_(std::move(slots)),
      reserved_(memory, measure::Use::gradients, total_bytes(parameters_)),
      memory_(communicator.allocate(total_bytes(parameters_))),
      written_(parameters_.size()) {
  const comm::Buffer whole = memory_.buffer(element_type(parameters_.front().tensor.scalar_type()));
  std::size_t offset = 0;
  for (std::size_t index = 0; index < parameters_.size(); ++index) {
    const at::Tensor& like = parameters_[index].tensor;
    buffers_.push_back(whole.part(offset, like.nbytes()));
    views_.push_back(tensor_at(buffers_.back().data, like));
    if (slots_[index]->direct()) slots_[index]->view = views_.back();
    offset += rounded_up(like.nbytes());
  }
}

void GradientPlaces::begin_step() {
  written_.assign(written_.size(), false);
  for (const auto& slot : slots_) slot->fresh = true;
}

void GradientPlaces::take(std::size_t parameter) {
  if (slots_[parameter]->in_use()) {
    written_[parameter] = !slots_[parameter]->fresh;
    return;
  }
  const at::NoGradGuard no_grad;
  at::Tensor& made = parameters_[parameter].tensor.mutable_grad();
  if (!made.defined()) return;
  if (written_[parameter]) {
    views_[parameter].add_(made);
  } else {
    views_[parameter].copy_(made);
  }
  written_[parameter] = true;
  made.reset();
}

void GradientPlaces::fill_if_missing(std::size_t parameter) {
  if (written_[parameter]) return;
  const at::NoGradGuard no_grad;
  views_[parameter].zero_();
  written_[parameter] = true;
}

}  // namespace lockstep::parallel::horovod
