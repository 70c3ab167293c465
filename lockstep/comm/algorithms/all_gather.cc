// All-gather, parts of any sizes. Rank r sends its own part and passes on others, or sends its own to all.
//
//   ring     in step s of n-1, rank r sends part r-s to r+1 and receives part r-1-s from r-1 (modulo n),
//            straight into the output. It sends all parts but that of r+1: S - |part r+1| bytes.
//   direct   every rank sends its part to every other at once: one step, (n-1) |part r| bytes. For small
//   parts.
#include <algorithm>

#include "lockstep/comm/algorithms/bytes.h"
#include "lockstep/comm/algorithms/collectives.h"
#include "lockstep/comm/algorithms/pipeline.h"
#include "lockstep/comm/algorithms/segments.h"

namespace lockstep::comm {
namespace {

class RingAllGather : public PipelineWork {
 public:
  RingAllGather(CollectiveContext& context, const Operation& operation)
      : operation_(operation),
        context_(context),
        chunks_(chunks_of(operation, context.world())),
        segments_(longest_bytes(chunks_), context.options.segment_bytes) {}

  void run() {
    const auto steps = static_cast<std::size_t>(context_.world() - 1);
    const Pipeline pipeline{context_.neighbour(-1), context_.neighbour(1), steps * segments_.count,
                            std::min(context_.options.lookahead, segments_.count)};
    pipeline.run(context_.messenger, *this);
  }

  std::span<const std::byte> outgoing(std::size_t index) override { return part(index, 0); }
  std::span<std::byte> landing(std::size_t index) override { return part(index, -1); }
  void arrived(std::size_t) override {}

 private:
  std::span<std::byte> part(std::size_t index, int distance) const {
    const int step = static_cast<int>(index / segments_.count);
    const Part& chunk = chunks_[static_cast<std::size_t>(context_.neighbour(distance - step))];
    return span_of(operation_.output, segments_.of(chunk, index % segments_.count));
  }

  const Operation& operation_;
  CollectiveContext& context_;
  const std::vector<Part> chunks_;
  const Segments segments_;
};

void place_own_part(const CollectiveContext& context, const Operation& operation) {
  const Part own = part_of(operation, context.rank(), context.world());
  copy_unless_same(bytes_at(operation.output, own.offset_bytes), operation.input.data, own.bytes);
}

}  // namespace

void all_gather_ring(CollectiveContext& context, const Operation& operation) {
  place_own_part(context, operation);
  RingAllGather(context, operation).run();
}

void all_gather_direct(CollectiveContext& context, const Operation& operation) {
  place_own_part(context, operation);
  const std::vector<Part> parts = chunks_of(operation, context.world());
  const Part& own = parts[static_cast<std::size_t>(context.rank())];
  std::vector<Ticket> tickets;
  for (int distance = 1; distance < context.world(); ++distance) {
    const int peer = context.neighbour(-distance);
    const std::span<std::byte> place = span_of(operation.output, parts[static_cast<std::size_t>(peer)]);
    if (!place.empty()) tickets.push_back(context.messenger.receive(peer, place.data(), place.size()));
  }
  for (int distance = 1; distance < context.world() && own.bytes > 0; ++distance)
    tickets.push_back(context.messenger.send(context.neighbour(distance),
                                             bytes_at(operation.output, own.offset_bytes), own.bytes));
  for (Ticket& ticket : tickets) context.messenger.wait(ticket);
}

}  // namespace lockstep::comm
