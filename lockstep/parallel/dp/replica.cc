#include "lockstep/parallel/dp/replica.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "lockstep/measure/torch/device_blocks.h"

namespace lockstep::parallel {
namespace {

using measure::Purpose;
using measure::Span;
using measure::SpanScope;

std::optional<models::Model> copy_for(int number, const ReplicaSource& source, const DpOptions& options) {
  if (number == 0 && options.keep_originals) return std::nullopt;
  const measure::UseScope use(measure::Use::parameters);
  return source.build(number);
}

// [1 + rows]: the step, and the sample of every row.
at::Tensor words_of(const models::PassKey& key, const at::Device& device) {
  const auto rows = static_cast<std::int64_t>(key.samples.size());
  const at::TensorOptions options = at::TensorOptions().dtype(at::kLong);
  const at::Tensor staged = at::empty({1 + rows}, options.pinned_memory(true));
  auto* word = staged.data_ptr<std::int64_t>();
  *word++ = static_cast<std::int64_t>(key.step);
  std::copy(key.samples.begin(), key.samples.end(), word);
  return at::empty({1 + rows}, options.device(device)).copy_(staged, true);
}

}  // namespace

DpOptions DpOptions::of(const record::RunSpec& spec) {
  DpOptions options;
  if (spec.coalesced_broadcast) options.broadcast_piece_bytes = spec.piece_bytes.count;
  if (spec.coalesced_reduction) options.reduce_piece_bytes = spec.piece_bytes.count;
  options.threaded_scatter = spec.threaded_scatter;
  options.keep_originals = spec.keep_originals;
  return options;
}

Replica::Replica(int number, models::Model& originals, const ReplicaSource& source, const DpOptions& options)
    : number_(number),
      outfit_(source.outfits[static_cast<std::size_t>(number)]),
      copy_(copy_for(number, source, options)),
      model_(copy_ ? *copy_ : originals),
      replication_(originals, model_, *outfit_.communicator, *outfit_.timer, options.broadcast_piece_bytes),
      gradients_(model_, *outfit_.compute, options.reduce_piece_bytes),
      rows_(*outfit_.communicator, options.threaded_scatter, outfit_.device) {}

void Replica::begin_step() {
  clock_.restart();
  samples = 0;
  {
    const SpanScope span(timer(), Span::optimizer);
    gradients_.forget();
  }
  replicate();
}

void Replica::replicate() {
  const PrimitiveClock::Scope time(clock_, Primitive::replicate);
  replication_.run();
}

at::Tensor Replica::scatter(const at::Tensor& whole, const RowShape& shape,
                            const std::vector<RowShare>& shares, Purpose purpose) {
  const PrimitiveClock::Scope time(clock_, Primitive::scatter);
  const SpanScope span(timer(), Span::exposed_comm, purpose);
  return rows_.scatter(whole, shape, shares, purpose);
}

at::Tensor Replica::gather(const at::Tensor& rows, const RowShape& shape,
                           const std::vector<RowShare>& shares) {
  const PrimitiveClock::Scope time(clock_, Primitive::gather);
  const SpanScope span(timer(), Span::exposed_comm, Purpose::output);
  return rows_.gather(rows, shape, shares, Purpose::output);
}

// On a GPU the key of a pass lies beside the batch, which is the first replica's, on its stream: the others
// have words of their own.
models::PassKey Replica::own_key(const models::PassKey& key) {
  if (number_ == 0 || key.device_step == nullptr) return key;
  key_words_ = words_of(key, outfit_.device);
  models::PassKey own = key;
  own.device_step = key_words_.data_ptr<std::int64_t>();
  own.device_samples = own.device_step + 1;
  return own;
}

// What follows is an exchange, which waits for the device anyway: waiting here shows whose time it is.
at::Tensor Replica::forward(const at::Tensor& inputs, const models::PassKey& key) {
  const PrimitiveClock::Scope time(clock_, Primitive::apply);
  const SpanScope span(timer(), Span::forward);
  at::Tensor output = runner_.forward(model_.root(), inputs, own_key(key));
  outfit_.compute->synchronise();
  return output;
}

void Replica::backward(const at::Tensor& output, const at::Tensor& output_gradient) {
  const PrimitiveClock::Scope time(clock_, Primitive::apply);
  const SpanScope span(timer(), Span::backward);
  const measure::BackwardScope lent;
  runner_.backward(output, output_gradient);
  outfit_.compute->synchronise();
}

void Replica::end_step() {
  {
    const PrimitiveClock::Scope time(clock_, Primitive::reduce);
    {
      const SpanScope span(timer(), Span::backward);
      gradients_.complete();
    }
    gradients_.reduce(*outfit_.communicator, *outfit_.timer);
  }
  const PrimitiveClock::Scope time(clock_, Primitive::replicate);
  if (number_ == 0) replication_.keep_buffers();
}

}  // namespace lockstep::parallel
