// Reduce-scatter around a ring: the first phase of the ring all-reduce, with the caller's parts as chunks.
//
// In step s of n-1, rank r sends chunk r-1-s to r+1 and receives chunk r-2-s from r-1 (modulo n); what
// arrives lands in scratch memory, this rank's input is added to it, and it is sent on in the next step. The
// last chunk to arrive is this rank's own; it lands in the output. The input stays as it was, unless the
// output lies in it.
//
// Rank r sends all but its own part: S - |part r| bytes.
#include <algorithm>

#include "lockstep/comm/algorithms/bytes.h"
#include "lockstep/comm/algorithms/collectives.h"
#include "lockstep/comm/algorithms/pipeline.h"
#include "lockstep/comm/algorithms/segments.h"

namespace lockstep::comm {
namespace {

class RingReduceScatter : public PipelineWork {
 public:
  RingReduceScatter(Exchange& exchange, const Operation& operation)
      : operation_(operation),
        exchange_(exchange),
        chunks_(chunks_of(operation, exchange.world())),
        segments_(longest_bytes(chunks_), exchange.options.segment_bytes),
        lookahead_(std::min(exchange.options.lookahead, segments_.count)),
        own_bytes_(operation.output.bytes),
        lands_in_output_(!overlap(operation.input, operation.output)),
        slots_(exchange.scratch.take(slot_count() * segments_.bytes)) {}

  void run() {
    const auto steps = static_cast<std::size_t>(exchange_.world() - 1);
    const Pipeline pipeline{exchange_.neighbour(-1), exchange_.neighbour(1), steps * segments_.count,
                            lookahead_};
    pipeline.run(exchange_.messenger, *this);
    if (!lands_in_output_) move_out_of_slots();
  }

  std::span<const std::byte> outgoing(std::size_t index) override {
    const Part place = part(index, -1 - step_of(index));
    if (step_of(index) == 0) return span_of(operation_.input, place);
    return {slot(index - segments_.count), place.bytes};
  }

  std::span<std::byte> landing(std::size_t index) override {
    return {accumulator(index), part(index, -2 - step_of(index)).bytes};
  }

  void arrived(std::size_t index) override {
    const Part place = part(index, -2 - step_of(index));
    combine_bytes(operation_, accumulator(index), bytes_at(operation_.input, place.offset_bytes),
                  place.bytes);
    if (is_last_step(index)) finish_bytes(operation_, accumulator(index), place.bytes, exchange_.world());
  }

 private:
  // A segment stays in its slot from the moment its receive is posted until it has been sent on, one step
  // later.
  std::size_t slot_count() const { return segments_.count + lookahead_; }
  std::byte* slot(std::size_t index) const { return slots_ + index % slot_count() * segments_.bytes; }
  int step_of(std::size_t index) const { return static_cast<int>(index / segments_.count); }
  bool is_last_step(std::size_t index) const { return step_of(index) == exchange_.world() - 2; }

  std::byte* accumulator(std::size_t index) const {
    const bool in_output = lands_in_output_ && is_last_step(index);
    return in_output ? bytes_at(operation_.output, index % segments_.count * segments_.bytes) : slot(index);
  }

  Part part(std::size_t index, int distance) const {
    const Part& chunk = chunks_[static_cast<std::size_t>(exchange_.neighbour(distance))];
    return segments_.of(chunk, index % segments_.count);
  }

  // An output inside the input is written only when nothing of the input is needed any more.
  void move_out_of_slots() {
    const std::size_t first = static_cast<std::size_t>(exchange_.world() - 2) * segments_.count;
    for (std::size_t offset = 0; offset < own_bytes_; offset += segments_.bytes)
      std::memcpy(bytes_at(operation_.output, offset), slot(first + offset / segments_.bytes),
                  std::min(segments_.bytes, own_bytes_ - offset));
  }

  const Operation& operation_;
  Exchange& exchange_;
  const std::vector<Part> chunks_;
  const Segments segments_;
  const std::size_t lookahead_;
  const std::size_t own_bytes_;
  const bool lands_in_output_;
  std::byte* const slots_;
};

}  // namespace

void reduce_scatter_ring(Exchange& exchange, const Operation& operation) {
  RingReduceScatter(exchange, operation).run();
}

}  // namespace lockstep::comm
