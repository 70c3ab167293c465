#include "lockstep/parallel/dp/dp.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include "lockstep/base/error.h"
#include "lockstep/measure/torch/device_blocks.h"
#include "lockstep/models/loss.h"
#include "lockstep/parallel/pass.h"

namespace lockstep::parallel {
namespace {

using measure::Purpose;
using measure::Span;
using measure::SpanScope;
using measure::Use;
using measure::UseScope;

const ReplicaSource& source_in(const Surroundings& surroundings) {
  if (surroundings.replicas == nullptr)
    throw base::ConfigError("strategy dp was given no replicas; it is started by the training run.");
  return *surroundings.replicas;
}

// The key of some rows of a pass: what is random belongs to the samples, wherever they are computed.
models::PassKey key_of_rows(const models::PassKey& whole, const RowShare& share) {
  models::PassKey key = whole;
  key.first_sample += share.begin;
  if (!key.samples.empty())
    key.samples =
        key.samples.subspan(static_cast<std::size_t>(share.begin), static_cast<std::size_t>(share.count));
  return key;
}

// Between its turns a replica waits for the first one, which loads, updates and will send.
class Turn {
 public:
  explicit Turn(Replica& replica) : replica_(replica) {
    if (replica_.number() > 0 && replica_.waits) replica_.timer().leave();
    replica_.waits = false;
  }
  ~Turn() {
    if (replica_.number() == 0) return;
    replica_.timer().enter(Span::exposed_comm, Purpose::parameter);
    replica_.waits = true;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Replica& replica_;
};

}  // namespace

Dp::Dp(const Surroundings& surroundings)
    : surroundings_(surroundings),
      source_(source_in(surroundings)),
      options_(DpOptions::of(surroundings.spec)),
      output_shape_(base::from_seconds(surroundings.spec.timeout.count)),
      crew_(source_, [this] { output_shape_.give_up(); }),
      replicas_(source_.outfits.size()) {
  crew_.run([this](int number) {
    replicas_[static_cast<std::size_t>(number)] =
        std::make_unique<Replica>(number, surroundings_.model, source_, options_);
  });
  const std::vector<models::NamedTensor> originals = trained_parameters(surroundings_.model);
  for (const models::NamedTensor& parameter : originals)
    updatables_.push_back({parameter.name, parameter.tensor, {}});
}

Dp::~Dp() = default;

// A replica without rows has nothing to compute, unless others wait for its part of their statistics.
bool Dp::applies(const RowShare& share) const {
  return share.count > 0 || surroundings_.spec.buffers == "sync";
}

PartResult Dp::train_part(const StepPart& part) {
  if (part.first) {
    for (Updatable& updatable : updatables_)
      updatable.gradient.reset();  // never two steps' gradients at once
  }
  // Waking the replicas is a part of computing side by side. Replica 0's thread goes on in this span.
  const SpanScope span(surroundings_.timer, Span::forward);
  PartResult result;
  crew_.run([&](int number) {
    const Turn turn(replica(number));
    train_rows(replica(number), part, result);
  });
  return result;
}

// The whole of dp, as one replica sees it.
void Dp::train_rows(Replica& replica, const StepPart& part, PartResult& result) {
  const UseScope use(Use::activations);
  const auto shares = share_rows(part.inputs.size(0), static_cast<int>(replicas_.size()));
  const RowShare& mine = shares[static_cast<std::size_t>(replica.number())];
  if (part.first) replica.begin_step();
  replica.samples += mine.count;
  const at::Tensor inputs = replica.scatter(part.inputs, RowShape::of(part.inputs), shares, Purpose::input);
  at::Tensor output;
  if (applies(mine)) output = replica.forward(inputs, key_of_rows(part.key, mine));
  if (replica.number() == 0) output_shape_.publish(output);
  const RowShape shape = output_shape_.await();
  const at::Tensor rows = output.defined() ? output.detach() : shape.empty(0);
  const at::Tensor outputs = replica.gather(rows, shape, shares);
  const at::Tensor gradient = loss_gradient(replica, outputs, part, result);
  const at::Tensor row_gradients = replica.scatter(gradient, shape, shares, Purpose::output);
  if (output.defined() && output.requires_grad()) replica.backward(output, row_gradients);
  if (part.last) replica.end_step();
}

at::Tensor Dp::loss_gradient(Replica& replica, const at::Tensor& outputs, const StepPart& part,
                             PartResult& result) {
  if (replica.number() != 0) return {};
  at::Tensor leaf = outputs.detach();
  leaf.set_requires_grad(true);
  at::Tensor loss;
  {
    const SpanScope span(replica.timer(), Span::forward);
    loss = models::loss_of(surroundings_.loss, leaf, part.targets, part.divisor);
  }
  const SpanScope span(replica.timer(), Span::backward);
  const measure::BackwardScope lent;
  const base::TimePoint backward_began = base::now();
  torch::autograd::backward({loss}, {});
  result = {loss.detach(), outputs, backward_began};
  return leaf.grad();
}

void Dp::finish_gradients() {
  const ReplicaGradients& gradients = replica(0).gradients();
  for (std::size_t index = 0; index < updatables_.size(); ++index)
    updatables_[index].gradient = gradients.gradient(index);
}

// As the library does it: replicas are made anew for every forward, in evaluation too.
at::Tensor Dp::evaluate(const at::Tensor& inputs, const models::PassKey& key) {
  at::Tensor outputs;
  const auto shares = share_rows(inputs.size(0), static_cast<int>(replicas_.size()));
  crew_.run([&](int number) {
    Replica& replica = this->replica(number);
    const Turn turn(replica);
    const at::NoGradGuard no_grad;
    const UseScope use(Use::activations);
    const RowShare& mine = shares[static_cast<std::size_t>(number)];
    replica.replicate();
    const at::Tensor rows = replica.scatter(inputs, RowShape::of(inputs), shares, Purpose::input);
    at::Tensor output;
    if (mine.count > 0) output = replica.forward(rows, key_of_rows(key, mine));
    if (number == 0) output_shape_.publish(output);
    const RowShape shape = output_shape_.await();
    const at::Tensor all = replica.gather(output.defined() ? output : shape.empty(0), shape, shares);
    if (number == 0) outputs = all;
  });
  return outputs;
}

std::vector<ReplicaStep> Dp::replica_steps() {
  std::vector<ReplicaStep> steps;
  for (const auto& replica : replicas_) steps.push_back({replica->samples, replica->clock().seconds()});
  return steps;
}

}  // namespace lockstep::parallel
