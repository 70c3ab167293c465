#include "lockstep/train/loss_reducer.h"

#include <ATen/ATen.h>

#include "lockstep/comm/operation.h"
#include "lockstep/parallel/tensor_buffer.h"

namespace lockstep::train {
namespace {

at::TensorOptions wide_enough(const at::TensorOptions& options) {
  return options.dtype() == at::kDouble ? options : options.dtype(at::kFloat);
}

}  // namespace

LossReducer::LossReducer(comm::Communicator* communicator, const at::TensorOptions& like,
                         measure::StepTimer& timer)
    : communicator_(communicator), timer_(timer), value_(at::zeros({}, wide_enough(like))) {
  if (communicator_ == nullptr) return;
  memory_ = communicator_->allocate(value_.nbytes());
  value_ = parallel::tensor_at(memory_.data(), value_);
}

void LossReducer::start(const at::Tensor& loss, bool in_background) {
  value_.copy_(loss);
  if (communicator_ == nullptr) return;
  const comm::Operation operation =
      comm::all_reduce(memory_.buffer(parallel::element_type(value_.scalar_type())), comm::ReduceOp::sum,
                       comm::Purpose::metric);
  if (in_background) {
    work_ = communicator_->start(operation);
    return;
  }
  const measure::SpanScope span(timer_, measure::Span::exposed_comm, measure::Purpose::metric);
  communicator_->run(operation);
}

double LossReducer::finish() {
  if (!work_.done()) {
    const measure::SpanScope span(timer_, measure::Span::exposed_comm, measure::Purpose::metric);
    work_.wait();
  }
  work_.wait();  // throws what went wrong in it
  work_ = {};
  return value_.item<double>();
}

}  // namespace lockstep::train
