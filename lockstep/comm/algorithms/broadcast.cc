// Broadcast, along a chain or down a tree. Positions v count from the root (chain.h).
//
//   chain   position v receives from v-1 and passes on to v+1, segment by segment: every rank but the last
//           sends S bytes, and the time hardly grows with the number of ranks. For large tensors.
//   tree    binomial: position v, when it has the tensor, sends it to v + 2^k for every 2^k > v in reach: at
//           most ceil(log2 n) steps; a rank sends S bytes to each such child. For small tensors.
#include <algorithm>

#include "lockstep/comm/algorithms/bytes.h"
#include "lockstep/comm/algorithms/chain.h"
#include "lockstep/comm/algorithms/collectives.h"
#include "lockstep/comm/algorithms/pipeline.h"
#include "lockstep/comm/algorithms/segments.h"

namespace lockstep::comm {
namespace {

const Buffer& buffer_of(const Exchange& exchange, const Operation& operation) {
  return exchange.rank() == operation.root ? operation.input : operation.output;
}

class ChainBroadcast : public PipelineWork {
 public:
  ChainBroadcast(Exchange& exchange, const Operation& operation)
      : exchange_(exchange),
        chain_{operation.root, exchange.world()},
        position_(chain_.position_of(exchange.rank())),
        buffer_(buffer_of(exchange, operation)),
        segments_(buffer_.bytes, exchange.options.segment_bytes),
        lookahead_(std::min(exchange.options.lookahead, segments_.count)),
        // The root has everything from the start; the others pass on what has arrived.
        shift_(position_ == 0 ? 0 : lookahead_) {}

  void run() {
    const bool is_last = position_ == exchange_.world() - 1;
    const Pipeline pipeline{position_ == 0 ? Pipeline::kNobody : chain_.rank_at(position_ - 1),
                            is_last ? Pipeline::kNobody : chain_.rank_at(position_ + 1),
                            segments_.count + shift_, lookahead_};
    pipeline.run(exchange_.messenger, *this);
  }

  std::span<const std::byte> outgoing(std::size_t index) override {
    return index < shift_ ? std::span<const std::byte>{} : segment(index - shift_);
  }
  std::span<std::byte> landing(std::size_t index) override { return segment(index); }
  void arrived(std::size_t) override {}

 private:
  std::span<std::byte> segment(std::size_t index) const {
    return span_of(buffer_, segments_.of({0, buffer_.bytes}, index));
  }

  Exchange& exchange_;
  const Chain chain_;
  const int position_;
  const Buffer buffer_;
  const Segments segments_;
  const std::size_t lookahead_;
  const std::size_t shift_;
};

}  // namespace

void broadcast_chain(Exchange& exchange, const Operation& operation) {
  ChainBroadcast(exchange, operation).run();
}

void broadcast_tree(Exchange& exchange, const Operation& operation) {
  const Chain chain{operation.root, exchange.world()};
  const int position = chain.position_of(exchange.rank());
  const Buffer& buffer = buffer_of(exchange, operation);
  int bit = 1;
  while (bit <= position) bit *= 2;
  if (position > 0) {
    Ticket ticket = exchange.messenger.receive(chain.rank_at(position - bit / 2), buffer.data, buffer.bytes);
    exchange.messenger.wait(ticket);
  }
  std::vector<Ticket> tickets;
  for (; position + bit < exchange.world(); bit *= 2)
    tickets.push_back(exchange.messenger.send(chain.rank_at(position + bit), buffer.data, buffer.bytes));
  for (Ticket& ticket : tickets) exchange.messenger.wait(ticket);
}

}  // namespace lockstep::comm
