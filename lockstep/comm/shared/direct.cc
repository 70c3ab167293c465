// The direct way: the buffers themselves can be reached, so every rank reads the inputs and writes the
// outputs in place. A last phase keeps everybody from using a buffer again while another rank still touches
// it.
#include "lockstep/comm/shared/exchange.h"

namespace lockstep::comm::shared {

void Exchange::run_direct() {
  move_directly();
  hands_.finish();
  sync();
}

void Exchange::move_directly() {
  const auto input_of = [this](int r) { return channel_.fabric_->resolve(r, descriptor(r).input); };
  const int root = operation_.root;
  switch (operation_.collective) {
    case Collective::all_reduce:
    case Collective::reduce:
    case Collective::reduce_scatter:
      reduce_directly();
      break;
    case Collective::broadcast:
      if (!is_root()) copy_from(root, output(), input_of(root), operation_.output.bytes);
      break;
    case Collective::scatter:
      copy_from(root, output(), input_of(root) + part(rank()).offset_bytes, part(rank()).bytes);
      break;
    case Collective::gather:
    case Collective::all_gather:
      for (int r = 0; r < world() && (is_root() || operation_.collective == Collective::all_gather); ++r)
        copy_from(r, output() + part(r).offset_bytes, input_of(r), part(r).bytes);
      break;
    case Collective::barrier:
    case Collective::send:
    case Collective::receive:
      break;
  }
}

// Every rank reduces its share of the elements from all inputs and writes it to all outputs. So each byte of
// every buffer is read once and written once, by one rank: 2(n-1)/n S of that in other ranks' memory.
void Exchange::reduce_directly() {
  const bool scatters = operation_.collective == Collective::reduce_scatter;
  const Part share = scatters ? part(rank()) : work_share(operation_.input.bytes, rank(), world());
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (int r = 0; r < world(); ++r) {
    inputs.push_back(channel_.fabric_->resolve(r, descriptor(r).input) + share.offset_bytes);
    if (r != rank()) count(share.bytes);
    const bool receives = operation_.collective == Collective::all_reduce ||
                          (operation_.collective == Collective::reduce && r == operation_.root);
    if (!receives) continue;
    outputs.push_back(channel_.fabric_->resolve(r, descriptor(r).output) + share.offset_bytes);
    if (r != rank()) count(share.bytes);
  }
  if (scatters) outputs.push_back(output());
  hands_.reduce(operation_.reduce_op, operation_.type(), outputs, inputs,
                share.bytes / bytes_of(operation_.type()));
}

}  // namespace lockstep::comm::shared
