#include "lockstep/parallel/horovod/horovod.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "lockstep/parallel/fingerprint.h"
#include "lockstep/parallel/pass.h"
#include "lockstep/parallel/same_start.h"
#include "lockstep/parallel/tensor_buffer.h"
#include "lockstep/record/catalogue_rules.h"

namespace lockstep::parallel {
namespace {

std::vector<horovod::TensorFacts> facts_of(const std::vector<models::NamedTensor>& parameters) {
  std::vector<horovod::TensorFacts> facts;
  for (const models::NamedTensor& parameter : parameters)
    facts.push_back(
        {parameter.name, parameter.tensor.nbytes(), element_type(parameter.tensor.scalar_type())});
  return facts;
}

horovod::NegotiatorOptions options_of(const Surroundings& surroundings) {
  const record::RunSpec& spec = surroundings.spec;
  horovod::NegotiatorOptions options;
  options.cache_capacity = static_cast<std::size_t>(spec.cache_capacity);
  options.stall.warning = base::from_seconds(spec.stall_warning.count);
  options.stall.shutdown = base::from_seconds(spec.stall_shutdown.value_or(spec.timeout).count);
  options.warn = surroundings.warn;
  return options;
}

// On a device, statistics of synchronised batch norms are gathered by the training thread while backward goes
// on, and groups would be put among them by the background thread, in another place on every rank. So there
// groups are handed in when backward has ended.
std::string overlap_mode(const Surroundings& surroundings) {
  const bool on_device = record::moves_device_memory(std::string(surroundings.communicator->backend()));
  return on_device && surroundings.spec.buffers == "sync" ? "off" : surroundings.spec.overlap;
}

}  // namespace

Horovod::Horovod(const Surroundings& surroundings)
    : surroundings_(surroundings),
      communicator_(*surroundings.communicator),
      parameters_(trained_parameters(surroundings.model)),
      tensors_(facts_of(parameters_)),
      buffers_(surroundings.model, buffer_mode(surroundings.spec.buffers), communicator_, surroundings.timer,
               surroundings.memory),
      overlap_(overlap_mode(surroundings), communicator_, surroundings.warn),
      beside_(compute_queue(parameters_.front().tensor.device())),
      data_(beside_->ordered(communicator_.duplicate())),
      data_memory_(surroundings.memory, measure::Use::communication, data_->device_bytes()),
      control_(surroundings.host_channel("negotiation")),
      gradients_(parameters_, trained_slots(surroundings.model), *data_, surroundings.memory),
      reducer_(gradients_.buffers(), Compression(surroundings.spec.compression),
               surroundings.spec.fusion_bytes.count, *data_, surroundings.memory),
      negotiator_(options_of(surroundings), tensors_, *control_),
      handed_in_(parameters_.size()),
      engine_({negotiator_, reducer_, *control_, *data_, *beside_}, parameters_.size(),
              base::from_seconds(surroundings.spec.cycle_time.count)),
      tap_(&surroundings.compute, tensors_of(parameters_),
           [this](std::size_t parameter) { on_gradient(parameter); }) {
  if (surroundings.spec.overlap == "on" && !overlap_.now() && surroundings.warn &&
      communicator_.group().rank == 0)
    surroundings.warn(
        "--overlap on has no effect: with synchronised batch norms on a GPU horovod's gradients are sent "
        "after "
        "backward, so that all ranks send in one order");
  for (std::size_t parameter = 0; parameter < parameters_.size(); ++parameter)
    updatables_.push_back(
        {parameters_[parameter].name, parameters_[parameter].tensor, gradients_.view(parameter)});
}

Horovod::~Horovod() {
  models::remove_gradient_slots(surroundings_.model.root());
}

void Horovod::begin() {
  require_same_shapes(communicator_, surroundings_.model);
  broadcast_state(communicator_, surroundings_.model);
}

PartResult Horovod::train_part(const StepPart& part) {
  if (part.first) begin_step();
  sending_ = part.last;
  // A worker without samples has nothing to compute, unless others wait for its part of their statistics.
  const bool runs = part.inputs.size(0) > 0 || surroundings_.spec.buffers == "sync";
  const PartResult result = runs ? run_pass(surroundings_, runner_, part) : empty_result(part);
  backward_began_ = result.backward_began;
  if (part.last && overlap_.now()) hand_in_the_rest();
  return result;
}

void Horovod::begin_step() {
  buffers_.exchange();
  gradients_.begin_step();
  handed_in_.assign(handed_in_.size(), false);
  engine_.begin_step();
}

// One without a gradient is handed in with the rest, when it has been filled with zeros: its place holds what
// was reduced last, or nothing yet.
void Horovod::on_gradient(std::size_t parameter) {
  gradients_.take(parameter);
  if (sending_ && overlap_.now() && gradients_.has(parameter)) hand_in(parameter);
}

void Horovod::hand_in(std::size_t parameter) {
  if (handed_in_[parameter]) return;
  handed_in_[parameter] = true;
  engine_.submit(parameter, surroundings_.compute.mark());
}

// Together: without overlap these are all gradients, and what is fused with what does not depend on the
// moment.
void Horovod::hand_in_the_rest() {
  const measure::SpanScope span(surroundings_.timer, measure::Span::backward);
  std::vector<horovod::HandedIn> rest;
  for (std::size_t parameter = 0; parameter < parameters_.size(); ++parameter) {
    gradients_.fill_if_missing(parameter);
    if (handed_in_[parameter]) continue;
    handed_in_[parameter] = true;
    rest.push_back({parameter, surroundings_.compute.mark()});
  }
  engine_.submit_together(std::move(rest));
}

void Horovod::finish_gradients() {
  if (!overlap_.now()) hand_in_the_rest();
  {
    const measure::SpanScope span(surroundings_.timer, measure::Span::exposed_comm,
                                  measure::Purpose::gradient);
    wait_for_engine();
  }
  note_times();
  overlap_.end_step(base::now() - backward_began_);
}

// A rank that has handed in everything waits for the negotiation, and in it for the ranks that have not.
void Horovod::wait_for_engine() {
  const base::TimePoint began = base::now();
  const ControlTime before = control_time();
  surroundings_.compute.wait_for(engine_.wait());
  const ControlTime after = control_time();
  // A cycle that was under way when the waiting began counts from then on only.
  const base::Nanoseconds waited = base::now() - began;
  waited_.busy = std::min(after.busy - before.busy, waited);
  waited_.peer_wait = std::min(after.peer_wait - before.peer_wait, waited);
}

ControlTime Horovod::control_time() const {
  if (surroundings_.ledger == nullptr) return {};
  constexpr auto kControl = static_cast<std::size_t>(measure::Purpose::control);
  const measure::LedgerTotals totals = surroundings_.ledger->totals();
  return {totals.busy_by_purpose[kControl], totals.peer_wait_by_purpose[kControl]};
}

// What a device reduces may not be over yet: when it was is not known here.
void Horovod::note_times() {
  times_.clear();
  const auto since_backward = [this](base::TimePoint moment) {
    return base::to_seconds(moment - backward_began_);
  };
  const bool on_device = gradients_.buffers().front().place == comm::Place::device;
  for (const horovod::GroupTimes& group : engine_.times()) {
    record::BucketTimes times{group.bytes, since_backward(group.ready), {}, {}};
    if (!on_device) {
      times.start_seconds = since_backward(group.started);
      times.end_seconds = since_backward(group.ended);
    }
    times_.push_back(times);
  }
}

void Horovod::after_update() {
  ++steps_done_;
  const std::int64_t every = surroundings_.spec.check_every;
  if (every == 0 || steps_done_ % every != 0) return;
  const measure::SpanScope span(surroundings_.timer, measure::Span::exposed_comm, measure::Purpose::control);
  require_equal_replicas(communicator_, tensors_of(parameters_), steps_done_);
}

void Horovod::settle() {
  engine_.pause();
  data_->queue().drain();  // whose totals are read next
  buffers_.exchange();
}

void Horovod::restore(const nlohmann::json& state) {
  steps_done_ = state.at("steps_done").get<std::int64_t>();
}

}  // namespace lockstep::parallel
