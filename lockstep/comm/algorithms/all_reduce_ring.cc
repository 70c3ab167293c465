// All-reduce around a ring.
//
// The tensor is cut into one chunk a rank, chunks into segments. Steps are numbered over both phases: in step
// s rank r sends chunk r-1-s to r+1 and receives chunk r-2-s from r-1 (modulo n).
//   reduce   steps 0 to n-2: what arrives is combined with this rank's own; after step n-2 chunk r is
//            complete on rank r. Chunk c is summed in the order c+1, c+2, ..., c.
//   gather   steps n-1 to 2n-3: what arrives is complete and only passed on.
// In place, segments to be reduced land in scratch memory and are added to the tensor; out of place they land
// in the output, and the input is added to them: no copy either way.
//
// Rank r sends 2S - |chunk r| - |chunk r+1| bytes, 2(n-1)/n S when n divides the count.
#include <algorithm>

#include "lockstep/comm/algorithms/bytes.h"
#include "lockstep/comm/algorithms/collectives.h"
#include "lockstep/comm/algorithms/pipeline.h"
#include "lockstep/comm/algorithms/segments.h"

namespace lockstep::comm {
namespace {

class RingAllReduce : public PipelineWork {
 public:
  RingAllReduce(Exchange& exchange, const Operation& operation)
      : operation_(operation),
        exchange_(exchange),
        chunks_(equal_chunks(operation.input.count(), bytes_of(operation.type()), exchange.world())),
        segments_(longest_bytes(chunks_), exchange.options.segment_bytes),
        lookahead_(std::min(exchange.options.lookahead, segments_.count)),
        in_place_(operation.input.data == operation.output.data),
        slots_(in_place_ ? exchange.scratch.take(lookahead_ * segments_.bytes) : nullptr) {}

  void run() {
    const auto steps = static_cast<std::size_t>(2 * (exchange_.world() - 1));
    const Pipeline pipeline{exchange_.neighbour(-1), exchange_.neighbour(1), steps * segments_.count,
                            lookahead_};
    pipeline.run(exchange_.messenger, *this);
  }

  std::span<const std::byte> outgoing(std::size_t index) override {
    const int step = step_of(index);
    return span_of(step == 0 ? operation_.input : operation_.output, part(index, -1 - step));
  }

  std::span<std::byte> landing(std::size_t index) override {
    const Part place = part(index, -2 - step_of(index));
    if (in_place_ && reduces(index)) return {slot(index), place.bytes};
    return span_of(operation_.output, place);
  }

  void arrived(std::size_t index) override {
    if (!reduces(index)) return;
    const Part place = part(index, -2 - step_of(index));
    std::byte* accumulator = bytes_at(operation_.output, place.offset_bytes);
    const std::byte* operand = in_place_ ? slot(index) : bytes_at(operation_.input, place.offset_bytes);
    combine_bytes(operation_, accumulator, operand, place.bytes);
    if (step_of(index) == exchange_.world() - 2)
      finish_bytes(operation_, accumulator, place.bytes, exchange_.world());
  }

 private:
  int step_of(std::size_t index) const { return static_cast<int>(index / segments_.count); }
  bool reduces(std::size_t index) const { return step_of(index) < exchange_.world() - 1; }
  std::byte* slot(std::size_t index) const { return slots_ + index % lookahead_ * segments_.bytes; }
  Part part(std::size_t index, int distance) const {
    const Part& chunk = chunks_[static_cast<std::size_t>(exchange_.neighbour(distance))];
    return segments_.of(chunk, index % segments_.count);
  }

  const Operation& operation_;
  Exchange& exchange_;
  const std::vector<Part> chunks_;
  const Segments segments_;
  const std::size_t lookahead_;
  const bool in_place_;
  std::byte* const slots_;
};

}  // namespace

void all_reduce_ring(Exchange& exchange, const Operation& operation) {
  RingAllReduce(exchange, operation).run();
}

}  // namespace lockstep::comm
