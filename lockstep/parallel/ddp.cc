#include "lockstep/parallel/ddp.h"

#include <ATen/ATen.h>

#include <functional>
#include <numeric>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/comm/operation.h"
#include "lockstep/parallel/fingerprint.h"
#include "lockstep/parallel/pass.h"
#include "lockstep/parallel/same_start.h"

namespace lockstep::parallel {
namespace {

BucketLimits limits_of(const record::RunSpec& spec) {
  return {spec.first_bucket_bytes.count, spec.bucket_bytes.count};
}

std::vector<std::uint64_t> bytes_of(const std::vector<models::NamedTensor>& parameters) {
  std::vector<std::uint64_t> bytes;
  for (const models::NamedTensor& parameter : parameters) bytes.push_back(parameter.tensor.nbytes());
  return bytes;
}

// Backward comes to the last layers first.
std::vector<std::size_t> reverse_order(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  return order;
}

std::string bucket_text(const std::vector<models::NamedTensor>& parameters, const BucketLayout& layout,
                        std::size_t bucket) {
  constexpr std::size_t kMostNames = 6;
  std::vector<std::string> names;
  for (const std::size_t parameter : layout.buckets[bucket]) names.push_back(parameters[parameter].name);
  const std::size_t left_out = names.size() > kMostNames ? names.size() - kMostNames : 0;
  names.resize(names.size() - left_out);
  return fmt::format("bucket {} of {} (gradients {}{})", bucket + 1, layout.buckets.size(),
                     base::join(names, ", "), left_out > 0 ? fmt::format(" and {} more", left_out) : "");
}

// A rank that never produces a gradient is missed in the bucket that has it: a timeout says in which.
void naming_gradients(const std::vector<models::NamedTensor>& parameters, const BucketLayout& layout,
                      std::size_t bucket, const std::function<void()>& action) {
  try {
    action();
  } catch (const base::CommError& error) {
    if (error.kind() != base::CommError::Kind::timed_out) throw;
    throw base::CommError(error.kind(), fmt::format("while adding up {}: {}",
                                                    bucket_text(parameters, layout, bucket), error.what()));
  }
}

}  // namespace

Ddp::Ddp(const Surroundings& surroundings, BucketOrder order)
    : surroundings_(surroundings),
      communicator_(*surroundings.communicator),
      parameters_(trained_parameters(surroundings.model)),
      slots_(trained_slots(surroundings.model)),
      buckets_(tensors_of(parameters_), most_buckets(bytes_of(parameters_), limits_of(surroundings.spec)),
               communicator_, surroundings.memory),
      sent_(Compression(surroundings.spec.compression), buckets_.whole(), communicator_, surroundings.memory),
      buffers_(surroundings.model, buffer_mode(surroundings.spec.buffers), communicator_, surroundings.timer,
               surroundings.memory),
      overlap_(surroundings.spec.overlap, communicator_, surroundings.warn),
      norms_(surroundings.spec.measure && order == BucketOrder::as_observed),
      limits_(limits_of(surroundings.spec)),
      order_observed_(order == BucketOrder::fixed),
      written_(parameters_.size()),
      ready_(parameters_.size()),
      tap_(&surroundings.compute, tensors_of(parameters_),
           [this](std::size_t parameter) { on_gradient(parameter); }) {
  use_layout(lay_out(reverse_order(parameters_.size()), bytes_of(parameters_), limits_));
}

Ddp::~Ddp() {
  models::remove_gradient_slots(surroundings_.model.root());
}

void Ddp::use_layout(const BucketLayout& layout) {
  layout_ = layout;
  buckets_.arrange(layout_);
  sent_.arrange(buckets_);
  flights_.resize(buckets_.count());
  updatables_.clear();
  for (std::size_t parameter = 0; parameter < parameters_.size(); ++parameter) {
    const models::NamedTensor& named = parameters_[parameter];
    updatables_.push_back({named.name, named.tensor, buckets_.view(parameter)});
    if (slots_[parameter]->direct()) slots_[parameter]->view = buckets_.view(parameter);
  }
}

void Ddp::begin() {
  require_same_shapes(communicator_, surroundings_.model);
  broadcast_state(communicator_, surroundings_.model);
}

PartResult Ddp::train_part(const StepPart& part) {
  if (part.first) begin_step(part);
  sending_ = part.last;
  // A worker without samples has nothing to compute, unless others wait for its part of their statistics.
  const bool runs = part.inputs.size(0) > 0 || surroundings_.spec.buffers == "sync";
  const PartResult result = runs ? run_pass(surroundings_, runner_, part) : empty_result(part);
  backward_began_ = result.backward_began;
  if (part.last) fill_missing();
  return result;
}

void Ddp::begin_step(const StepPart& part) {
  norms_.begin_step(steps_done_, part.own_samples, part.divisor);
  buffers_.exchange();
  written_.assign(written_.size(), false);
  ready_.assign(ready_.size(), false);
  ready_order_.clear();
  next_bucket_ = 0;
  for (std::size_t bucket = 0; bucket < flights_.size(); ++bucket)
    flights_[bucket] = Flight{layout_.buckets[bucket].size(), {}, std::make_shared<Reduction>(), {}};
  for (const auto& slot : slots_) slot->fresh = true;
}

// One without a gradient is ready when it has been filled with zeros: its place holds what was reduced last,
// or nothing yet.
void Ddp::on_gradient(std::size_t parameter) {
  take_gradient(parameter);
  if (sending_ && written_[parameter]) mark_ready(parameter);
}

// The layer has written the gradient into its bucket; or autograd has made one of its own and left it in
// .grad: into the bucket with it.
void Ddp::take_gradient(std::size_t parameter) {
  if (slots_[parameter]->in_use()) {
    written_[parameter] = !slots_[parameter]->fresh;
    return;
  }
  const at::NoGradGuard no_grad;
  at::Tensor& made = parameters_[parameter].tensor.mutable_grad();
  if (!made.defined()) return;
  const at::Tensor& place = buckets_.view(parameter);
  if (written_[parameter]) {
    place.add_(made);
  } else {
    place.copy_(made);
  }
  written_[parameter] = true;
  made.reset();
}

void Ddp::mark_ready(std::size_t parameter) {
  if (ready_[parameter]) return;
  ready_[parameter] = true;
  ready_order_.push_back(parameter);
  Flight& flight = flights_[buckets_.bucket_of(parameter)];
  if (--flight.missing > 0) return;
  flight.ready = base::now();
  if (overlap_.now()) launch_ready_buckets();
}

void Ddp::launch_ready_buckets() {
  while (next_bucket_ < flights_.size() && flights_[next_bucket_].missing == 0) launch(next_bucket_++);
}

comm::Operation Ddp::reduction_of(const comm::Buffer& bucket) const {
  return comm::all_reduce(bucket, comm::ReduceOp::sum, comm::Purpose::gradient);
}

// Rounding is a part of sending, wherever the thread is.
void Ddp::launch(std::size_t bucket) {
  norms_.add_local(buckets_.buffer(bucket));
  if (sent_.compressed()) {
    const measure::SpanScope span(surroundings_.timer, measure::Span::exposed_comm,
                                  measure::Purpose::gradient);
    sent_.pack(buckets_, bucket);
  }
  reduce(bucket);
}

void Ddp::reduce(std::size_t bucket) {
  Flight& flight = flights_[bucket];
  const comm::Operation operation = reduction_of(sent_.buffer(bucket));
  const auto note = [reduction = flight.reduction](const measure::Movement& movement) {
    reduction->ended = base::now();
    reduction->started = reduction->ended - movement.busy;
  };
  if (overlap_.now()) {
    flight.work = communicator_.start(operation, note);
  } else {
    naming_gradients(parameters_, layout_, bucket, [&] { note(communicator_.run(operation)); });
  }
}

// In a span of exposed communication.
void Ddp::collect(std::size_t bucket) {
  naming_gradients(parameters_, layout_, bucket,
                   [&] { surroundings_.compute.wait_for(flights_[bucket].work); });
  sent_.unpack(buckets_, bucket);
}

// A gradient that this worker did not compute (it had no samples, or does not use the parameter) is zero.
void Ddp::fill_missing() {
  const measure::SpanScope span(surroundings_.timer, measure::Span::backward);
  for (std::size_t parameter = 0; parameter < parameters_.size(); ++parameter) {
    if (!written_[parameter]) {
      const at::NoGradGuard no_grad;
      buckets_.view(parameter).zero_();
      written_[parameter] = true;
    }
    mark_ready(parameter);
  }
}

void Ddp::finish_gradients() {
  {
    const measure::SpanScope span(surroundings_.timer, measure::Span::exposed_comm,
                                  measure::Purpose::gradient);
    launch_ready_buckets();
    for (std::size_t bucket = 0; bucket < flights_.size(); ++bucket) collect(bucket);
  }
  for (std::size_t bucket = 0; bucket < buckets_.count(); ++bucket)
    norms_.add_reduced(buckets_.buffer(bucket));
  note_times();
  overlap_.end_step(base::now() - backward_began_);
  adopt_ready_order();
}

// What the communicator does on a device is not over yet, and says so itself.
void Ddp::note_times() {
  times_.clear();
  const auto since_backward = [this](base::TimePoint moment) {
    return base::to_seconds(moment - backward_began_);
  };
  for (std::size_t bucket = 0; bucket < flights_.size(); ++bucket) {
    const Flight& flight = flights_[bucket];
    record::BucketTimes times{sent_.buffer(bucket).bytes, since_backward(flight.ready), {}, {}};
    if (sent_.buffer(bucket).place != comm::Place::device) {
      times.start_seconds = since_backward(flight.reduction->started);
      times.end_seconds = since_backward(flight.reduction->ended);
    }
    times_.push_back(times);
  }
}

// After the first step all ranks take over the order that rank 0 has seen. The gradients of this step are in
// the old places until the optimiser has used them, so the new layout waits for after_update().
void Ddp::adopt_ready_order() {
  if (order_observed_) return;
  std::vector<std::int64_t> order(ready_order_.begin(), ready_order_.end());
  const measure::SpanScope span(surroundings_.timer, measure::Span::exposed_comm, measure::Purpose::control);
  communicator_.run(comm::broadcast(comm::host_buffer(order.data(), order.size(), comm::ElementType::i64), 0,
                                    comm::Purpose::control));
  ready_order_.assign(order.begin(), order.end());
}

void Ddp::after_update() {
  ++steps_done_;
  if (!order_observed_) {
    order_observed_ = true;
    use_layout(lay_out(ready_order_, bytes_of(parameters_), limits_));
  }
  const std::int64_t every = surroundings_.spec.check_every;
  if (every == 0 || steps_done_ % every != 0) return;
  const measure::SpanScope span(surroundings_.timer, measure::Span::exposed_comm, measure::Purpose::control);
  require_equal_replicas(communicator_, tensors_of(parameters_), steps_done_);
}

void Ddp::settle() {
  buffers_.exchange();
}

nlohmann::json Ddp::state() const {
  return {{"layout", to_json(layout_)}, {"order_observed", order_observed_}, {"steps_done", steps_done_}};
}

void Ddp::restore(const nlohmann::json& state) {
  const BucketLayout layout = bucket_layout_from_json(state.at("layout"), parameters_.size());
  if (layout.buckets.size() > most_buckets(bytes_of(parameters_), limits_))
    throw base::DataError(
        "the checkpoint's bucket layout has more buckets than --bucket-bytes and --first-bucket-bytes "
        "allow.");
  use_layout(layout);
  order_observed_ = state.at("order_observed").get<bool>();
  steps_done_ = state.at("steps_done").get<std::int64_t>();
}

}  // namespace lockstep::parallel
