#include "lockstep/parallel/zero/flat_parameters.h"

#include <ATen/ATen.h>

#include "lockstep/measure/memory_account.h"
#include "lockstep/parallel/tensor_buffer.h"
#include "lockstep/parallel/zero/shard.h"

namespace lockstep::parallel {
namespace {

at::Tensor make_parameter_row(const at::Tensor& like, std::size_t elements) {
  const measure::UseScope use(measure::Use::parameters);
  return at::empty({static_cast<std::int64_t>(elements)}, like.options().requires_grad(false));
}

}  // namespace

std::vector<at::Tensor> views_into(const at::Tensor& row, const std::vector<models::NamedTensor>& tensors) {
  std::vector<at::Tensor> views;
  std::int64_t offset = 0;
  for (const models::NamedTensor& named : tensors) {
    views.push_back(row.as_strided(named.tensor.sizes(), named.tensor.strides(), offset));
    offset += named.tensor.numel();
  }
  return views;
}

FlatParameters::FlatParameters(const std::vector<models::NamedTensor>& parameters)
    : elements_(total_of(elements_of(parameters))),
      row_(make_parameter_row(parameters.front().tensor, elements_)) {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> views = views_into(row_, parameters);
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    at::Tensor parameter = parameters[index].tensor;
    views[index].copy_(parameter.detach());
    parameter.set_data(views[index]);
  }
}

void FlatParameters::drop() {
  row_.storage().set_data_ptr(c10::DataPtr(nullptr, row_.device()));
}

void FlatParameters::make_room() {
  const at::Tensor room = make_parameter_row(row_, elements_);
  row_.storage().set_data_ptr(room.storage().set_data_ptr(c10::DataPtr(nullptr, row_.device())));
}

bool FlatParameters::has_room() const {
  return row_.storage().data_ptr().get() != nullptr;
}

comm::Buffer FlatParameters::buffer() const {
  return buffer_of(row_);
}

}  // namespace lockstep::parallel
