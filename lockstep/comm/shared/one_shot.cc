// The one-shot way: every rank copies its contribution into its slot, and after one phase takes what it needs
// from all of them. Nobody waits for the takers: the area of this parity is written again only by the next
// operation but one, which begins after everybody has left this one.
#include "lockstep/comm/reduction/reduction.h"
#include "lockstep/comm/shared/exchange.h"

namespace lockstep::comm::shared {

void Exchange::stage_contribution() {
  const Collective collective = operation_.collective;
  const bool only_root = collective == Collective::broadcast || collective == Collective::scatter;
  if (only_root && !is_root()) return;
  copy_own(block().small(rank(), parity()), input(), operation_.input.bytes);
}

void Exchange::take_from_contributions() {
  const auto contribution = [this](int r) { return block().small(r, parity()); };
  const auto reduce_range = [&](std::byte* to, std::size_t offset, std::size_t bytes) {
    std::vector<const void*> inputs;
    for (int r = 0; r < world(); ++r) {
      inputs.push_back(contribution(r) + offset);
      if (r != rank()) count(bytes);
    }
    void* const outputs[] = {to};
    reduce_ranks(operation_.reduce_op, operation_.type(), outputs, inputs,
                 bytes / bytes_of(operation_.type()));
  };
  switch (operation_.collective) {
    case Collective::all_reduce:
      return reduce_range(output(), 0, operation_.input.bytes);
    case Collective::reduce:
      if (is_root()) reduce_range(output(), 0, operation_.input.bytes);
      return;
    case Collective::reduce_scatter:
      return reduce_range(output(), part(rank()).offset_bytes, part(rank()).bytes);
    case Collective::broadcast:
      if (!is_root())
        copy_from(operation_.root, output(), contribution(operation_.root), operation_.output.bytes);
      return;
    case Collective::scatter:
      return copy_from(operation_.root, output(), contribution(operation_.root) + part(rank()).offset_bytes,
                       part(rank()).bytes);
    case Collective::gather:
      if (!is_root()) return;
      [[fallthrough]];
    case Collective::all_gather:
      for (int r = 0; r < world(); ++r)
        copy_from(r, output() + part(r).offset_bytes, contribution(r), part(r).bytes);
      return;
    case Collective::barrier:
    case Collective::send:
    case Collective::receive:
      return;
  }
}

}  // namespace lockstep::comm::shared
