#include "lockstep/parallel/dp/replication.h"

#include <ATen/ATen.h>

#include "lockstep/comm/operation.h"
#include "lockstep/measure/memory_account.h"
#include "lockstep/parallel/pass.h"
#include "lockstep/parallel/tensor_buffer.h"

namespace lockstep::parallel {
namespace {

// The piece as one tensor, for as long as it takes to send it.
at::Tensor packed(const std::vector<at::Tensor>& tensors, const std::vector<std::size_t>& piece) {
  const measure::UseScope use(measure::Use::communication);
  std::vector<at::Tensor> parts;
  for (const std::size_t index : piece) parts.push_back(tensors[index].detach());
  const Pieces staging(parts, lay_out_pieces(parts, bytes_in(parts)));
  for (std::size_t part = 0; part < parts.size(); ++part) staging.view(part).copy_(parts[part]);
  return staging.flat(0);
}

}  // namespace

Replication::Replication(const models::Model& originals, const models::Model& copy,
                         comm::Communicator& communicator, measure::StepTimer& timer,
                         std::optional<std::uint64_t> piece_bytes)
    : communicator_(communicator),
      timer_(timer),
      coalesced_(piece_bytes.has_value()),
      shares_originals_(&originals == &copy),
      parameters_(make(measure::Purpose::parameter, originals.parameters(), copy.parameters(), piece_bytes)),
      buffers_(make(measure::Purpose::buffer, originals.buffers(), copy.buffers(), piece_bytes)) {}

Replication::Tensors Replication::make(measure::Purpose purpose,
                                       const std::vector<models::NamedTensor>& originals,
                                       const std::vector<models::NamedTensor>& copies,
                                       std::optional<std::uint64_t> piece_bytes) const {
  Tensors tensors{purpose, tensors_of(originals), tensors_of(copies), {}, {}};
  if (!piece_bytes) return tensors;
  tensors.layout = lay_out_pieces(tensors.originals, *piece_bytes);
  if (is_first()) return tensors;
  const measure::UseScope use(measure::Use::parameters);
  tensors.arrived.emplace(tensors.copies, tensors.layout);
  for (std::size_t index = 0; index < tensors.copies.size(); ++index)
    tensors.copies[index].set_data(tensors.arrived->view(index));
  return tensors;
}

void Replication::run() {
  const at::NoGradGuard no_grad;
  move(parameters_);
  move(buffers_);
}

void Replication::move(Tensors& tensors) {
  if (tensors.originals.empty()) return;
  const measure::SpanScope span(timer_, measure::Span::exposed_comm, tensors.purpose);
  if (is_first()) copy_at_home(tensors);
  if (communicator_.group().world == 1) return;
  coalesced_ ? send_pieces(tensors) : send_each(tensors);
}

// Inside replica 0's own memory: no message.
void Replication::copy_at_home(const Tensors& tensors) const {
  if (shares_originals_) return;
  for (std::size_t index = 0; index < tensors.originals.size(); ++index)
    tensors.copies[index].detach().copy_(tensors.originals[index]);
}

void Replication::send_each(Tensors& tensors) {
  const std::vector<at::Tensor>& here = is_first() ? tensors.originals : tensors.copies;
  for (const at::Tensor& tensor : here)
    communicator_.run(comm::broadcast(buffer_of(tensor), 0, tensors.purpose));
}

void Replication::send_pieces(Tensors& tensors) {
  for (std::size_t piece = 0; piece < tensors.layout.size(); ++piece) {
    const at::Tensor flat =
        is_first() ? packed(tensors.originals, tensors.layout[piece]) : tensors.arrived->flat(piece);
    communicator_.run(comm::broadcast(buffer_of(flat), 0, tensors.purpose));
  }
}

void Replication::keep_buffers() {
  if (shares_originals_ || buffers_.originals.empty()) return;
  const at::NoGradGuard no_grad;
  const measure::SpanScope span(timer_, measure::Span::exposed_comm, measure::Purpose::buffer);
  for (std::size_t index = 0; index < buffers_.originals.size(); ++index)
    buffers_.originals[index].copy_(buffers_.copies[index]);
}

}  // namespace lockstep::parallel
