#include "lockstep/train/loss_reducer.h"

#include <ATen/ATen.h>

#include "lockstep/comm/operation.h"
#include "lockstep/parallel/tensor_buffer.h"

namespace lockstep::train {
namespace {

at::TensorOptions wide_enough(const at::TensorOptions& options) {
  return options.dtype() == at::kDouble ? options : options.dtype(at::kFloat);
}

// Pinned memory, where the device copies by itself.
at::Tensor host_scalar(const at::Tensor& like) {
  const auto options = like.options().device(at::kCPU).requires_grad(false);
  return like.is_cuda() ? at::empty({}, options.pinned_memory(true)) : at::empty({}, options);
}

}  // namespace

LossReducer::LossReducer(comm::Communicator* communicator, const at::TensorOptions& like,
                         parallel::ComputeQueue& compute, measure::StepTimer& timer)
    : communicator_(communicator),
      compute_(compute),
      timer_(timer),
      value_(at::zeros({}, wide_enough(like).requires_grad(false))),
      read_(host_scalar(value_)) {
  if (communicator_ == nullptr) return;
  memory_ = communicator_->allocate(value_.nbytes());
  value_ = parallel::tensor_at(memory_.data(), value_);
}

void LossReducer::start(const at::Tensor& loss, bool in_background) {
  value_.copy_(loss);
  if (communicator_ != nullptr) reduce(in_background);
  if (!value_.is_cuda()) return;
  await_on_device();
  read_.copy_(value_, true);
  copied_ = compute_.mark();
}

void LossReducer::await_on_device() {
  if (communicator_ == nullptr) return;
  const measure::SpanScope span(timer_, measure::Span::exposed_comm, measure::Purpose::metric);
  compute_.wait_for(work_);
}

void LossReducer::reduce(bool in_background) {
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
  if (value_.is_cuda()) {
    copied_.wait();
    work_.wait();  // has ended; throws what went wrong in it
    work_ = {};
    return read_.item<double>();
  }
  if (!work_.done()) {
    const measure::SpanScope span(timer_, measure::Span::exposed_comm, measure::Purpose::metric);
    work_.wait();
  }
  work_.wait();  // throws what went wrong in it
  work_ = {};
  return value_.item<double>();
}

}  // namespace lockstep::train
