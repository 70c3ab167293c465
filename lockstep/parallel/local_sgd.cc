#include "lockstep/parallel/local_sgd.h"

#include <ATen/ATen.h>

#include <numeric>

#include "lockstep/comm/operation.h"
#include "lockstep/parallel/fingerprint.h"
#include "lockstep/parallel/pass.h"
#include "lockstep/parallel/same_start.h"

namespace lockstep::parallel {
namespace {

// There is no backward to hide behind: the parameters' own order does.
BucketLayout in_order(const std::vector<at::Tensor>& parameters, std::uint64_t bucket_bytes) {
  std::vector<std::size_t> order(parameters.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::uint64_t> bytes;
  for (const at::Tensor& parameter : parameters) bytes.push_back(parameter.nbytes());
  return lay_out(order, bytes, {bucket_bytes, bucket_bytes});
}

}  // namespace

LocalSgd::LocalSgd(const Surroundings& surroundings)
    : surroundings_(surroundings),
      communicator_(*surroundings.communicator),
      local_(surroundings),
      parameters_(tensors_of(trained_parameters(surroundings.model))),
      buckets_(parameters_, in_order(parameters_, surroundings.spec.bucket_bytes.count).buckets.size(),
               communicator_, surroundings.memory),
      buffers_(surroundings.model, buffer_mode(surroundings.spec.buffers), communicator_, surroundings.timer,
               surroundings.memory),
      local_steps_(surroundings.spec.local_steps) {
  buckets_.arrange(in_order(parameters_, surroundings.spec.bucket_bytes.count));
}

void LocalSgd::begin() {
  require_same_shapes(communicator_, surroundings_.model);
  broadcast_state(communicator_, surroundings_.model);
}

// A worker's gradient is that of its own samples alone; its loss is told as a share of the global batch's.
PartResult LocalSgd::train_part(const StepPart& part) {
  if (part.first) all_samples_ += part.divisor;
  own_samples_ += static_cast<double>(part.inputs.size(0));
  StepPart own = part;
  own.divisor = std::max(part.own_samples, 1.0);
  PartResult result = local_.train_part(own);
  result.loss = result.loss * (own.divisor / part.divisor);
  return result;
}

void LocalSgd::after_update() {
  ++steps_done_;
  ++steps_alone_;
  if (local_steps_ && steps_alone_ >= *local_steps_) average();
}

void LocalSgd::average() {
  if (steps_alone_ == 0) return;
  weigh_into_buckets();
  {
    const measure::SpanScope span(surroundings_.timer, measure::Span::exposed_comm,
                                  measure::Purpose::parameter);
    for (std::size_t bucket = 0; bucket < buckets_.count(); ++bucket)
      communicator_.run(
          comm::all_reduce(buckets_.buffer(bucket), comm::ReduceOp::sum, comm::Purpose::parameter));
  }
  take_from_buckets();
  buffers_.exchange();
  steps_alone_ = 0;
  own_samples_ = all_samples_ = 0;
  if (surroundings_.spec.check_every == 0) return;
  const measure::SpanScope span(surroundings_.timer, measure::Span::exposed_comm, measure::Purpose::control);
  require_equal_replicas(communicator_, parameters_, steps_done_);
}

void LocalSgd::weigh_into_buckets() {
  const measure::SpanScope span(surroundings_.timer, measure::Span::optimizer);
  const at::NoGradGuard no_grad;
  const double weight = own_samples_ / all_samples_;
  for (std::size_t index = 0; index < parameters_.size(); ++index) {
    at::Tensor place = buckets_.view(index);
    at::mul_out(place, parameters_[index], at::scalar_tensor(weight, parameters_[index].options()));
  }
}

void LocalSgd::take_from_buckets() {
  const measure::SpanScope span(surroundings_.timer, measure::Span::optimizer);
  const at::NoGradGuard no_grad;
  for (std::size_t index = 0; index < parameters_.size(); ++index)
    parameters_[index].copy_(buckets_.view(index));
}

nlohmann::json LocalSgd::state() const {
  return {{"steps_alone", steps_alone_},
          {"own_samples", own_samples_},
          {"all_samples", all_samples_},
          {"steps_done", steps_done_}};
}

void LocalSgd::restore(const nlohmann::json& state) {
  steps_alone_ = state.at("steps_alone").get<std::int64_t>();
  own_samples_ = state.at("own_samples").get<double>();
  all_samples_ = state.at("all_samples").get<double>();
  steps_done_ = state.at("steps_done").get<std::int64_t>();
}

}  // namespace lockstep::parallel
