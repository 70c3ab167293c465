#include "lockstep/parallel/dp/replica.h"

#include <ATen/ATen.h>

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
      gradients_(model_, options.reduce_piece_bytes),
      rows_(*outfit_.communicator, options.threaded_scatter) {}

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

at::Tensor Replica::forward(const at::Tensor& inputs, const models::PassKey& key) {
  const PrimitiveClock::Scope time(clock_, Primitive::apply);
  const SpanScope span(timer(), Span::forward);
  return runner_.forward(model_.root(), inputs, key);
}

void Replica::backward(const at::Tensor& output, const at::Tensor& output_gradient) {
  const PrimitiveClock::Scope time(clock_, Primitive::apply);
  const SpanScope span(timer(), Span::backward);
  const measure::BackwardScope lent;
  runner_.backward(output, output_gradient);
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
