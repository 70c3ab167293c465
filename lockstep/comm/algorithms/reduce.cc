// Reduce to one rank, along a chain or up a tree. Positions v count from the root (chain.h).
//
//   chain   position v receives the sum of positions v+1 and above from v+1, adds its own and sends it to
//   v-1,
//           segment by segment: every rank but the root sends S bytes. For large tensors.
//   tree    binomial: in step k, positions with bit k set send their partial sum to v - 2^k and are done:
//           ceil(log2 n) steps, S bytes from every rank but the root. For small ones.
#include <algorithm>

#include "lockstep/comm/algorithms/bytes.h"
#include "lockstep/comm/algorithms/chain.h"
#include "lockstep/comm/algorithms/collectives.h"
#include "lockstep/comm/algorithms/pipeline.h"
#include "lockstep/comm/algorithms/segments.h"

namespace lockstep::comm {
namespace {

class ChainReduce : public PipelineWork {
 public:
  ChainReduce(Exchange& exchange, const Operation& operation)
      : operation_(operation),
        exchange_(exchange),
        chain_{operation.root, exchange.world()},
        position_(chain_.position_of(exchange.rank())),
        segments_(operation.input.bytes, exchange.options.segment_bytes),
        lookahead_(std::min(exchange.options.lookahead, segments_.count)),
        shift_(is_last() ? 0 : lookahead_),
        lands_in_output_(position_ == 0 && operation.input.data != operation.output.data),
        slots_(exchange.scratch.take(slot_count() * segments_.bytes)) {}

  void run() {
    const Pipeline pipeline{is_last() ? Pipeline::kNobody : chain_.rank_at(position_ + 1),
                            position_ == 0 ? Pipeline::kNobody : chain_.rank_at(position_ - 1),
                            segments_.count + shift_, lookahead_};
    pipeline.run(exchange_.messenger, *this);
  }

  std::span<const std::byte> outgoing(std::size_t index) override {
    if (index < shift_) return {};
    const Part place = part(index - shift_);
    if (is_last()) return span_of(operation_.input, place);
    return {slot(index - shift_), place.bytes};
  }

  std::span<std::byte> landing(std::size_t index) override {
    const Part place = part(index);
    return lands_in_output_ ? span_of(operation_.output, place)
                            : std::span<std::byte>{slot(index), place.bytes};
  }

  void arrived(std::size_t index) override {
    const Part place = part(index);
    const std::byte* own = bytes_at(operation_.input, place.offset_bytes);
    if (position_ > 0) return combine_bytes(operation_, slot(index), own, place.bytes);
    std::byte* result = bytes_at(operation_.output, place.offset_bytes);
    combine_bytes(operation_, result, lands_in_output_ ? own : slot(index), place.bytes);
    finish_bytes(operation_, result, place.bytes, exchange_.world());
  }

 private:
  bool is_last() const { return position_ == exchange_.world() - 1; }
  // A segment stays in its slot while it is expected and while it is passed on.
  std::size_t slot_count() const { return 2 * lookahead_; }
  std::byte* slot(std::size_t index) const { return slots_ + index % slot_count() * segments_.bytes; }
  Part part(std::size_t index) const { return segments_.of({0, operation_.input.bytes}, index); }

  const Operation& operation_;
  Exchange& exchange_;
  const Chain chain_;
  const int position_;
  const Segments segments_;
  const std::size_t lookahead_;
  const std::size_t shift_;
  const bool lands_in_output_;
  std::byte* const slots_;
};

// Where a rank gathers its partial sum: the root in its output, others in scratch memory.
std::byte* begin_partial_sum(Exchange& exchange, const Operation& operation, std::byte* scratch) {
  std::byte* partial = exchange.rank() == operation.root ? bytes_at(operation.output) : scratch;
  copy_unless_same(partial, operation.input.data, operation.input.bytes);
  return partial;
}

}  // namespace

void reduce_chain(Exchange& exchange, const Operation& operation) {
  ChainReduce(exchange, operation).run();
}

void reduce_tree(Exchange& exchange, const Operation& operation) {
  const Chain chain{operation.root, exchange.world()};
  const int position = chain.position_of(exchange.rank());
  const std::size_t bytes = operation.input.bytes;
  std::byte* scratch = exchange.scratch.take(2 * bytes);
  std::byte* partial = begin_partial_sum(exchange, operation, scratch);
  for (int bit = 1; bit < exchange.world(); bit *= 2) {
    if ((position & bit) != 0) {
      Ticket ticket = exchange.messenger.send(chain.rank_at(position - bit), partial, bytes);
      return exchange.messenger.wait(ticket);
    }
    if (position + bit >= exchange.world()) continue;
    Ticket ticket = exchange.messenger.receive(chain.rank_at(position + bit), scratch + bytes, bytes);
    exchange.messenger.wait(ticket);
    combine_bytes(operation, partial, scratch + bytes, bytes);
  }
  finish_bytes(operation, partial, bytes, exchange.world());
}

}  // namespace lockstep::comm
