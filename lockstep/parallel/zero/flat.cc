#include "lockstep/parallel/zero/flat.h"

#include <ATen/ATen.h>

#include "lockstep/comm/operation.h"
#include "lockstep/parallel/tensor_buffer.h"

namespace lockstep::parallel {

at::Tensor row_at(const comm::Buffer& buffer, const at::Tensor& like) {
  const auto options = like.options().requires_grad(false);
  return at::from_blob(
      buffer.data, {static_cast<std::int64_t>(buffer.count())}, [](void*) {}, options);
}

// Of a GPU torch wants to know whose memory it is, and nobody's will not do: there all elements share one.
void leave_empty(at::Tensor tensor) {
  const auto options = tensor.options().requires_grad(false);
  tensor.set_data(tensor.is_cuda() ? at::empty({1}, options).expand(tensor.sizes())
                                   : tensor_at(nullptr, tensor));
}

double sum_over_ranks(comm::Communicator& communicator, measure::StepTimer& timer, double mine) {
  const measure::SpanScope span(timer, measure::Span::exposed_comm, measure::Purpose::control);
  communicator.run(comm::all_reduce(comm::host_buffer(&mine, 1, comm::ElementType::f64), comm::ReduceOp::sum,
                                    comm::Purpose::control));
  return mine;
}

}  // namespace lockstep::parallel
