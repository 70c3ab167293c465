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
  RingAllGather(Exchange& exchange, const Operation& operation)
      : operation_(operation),
        exchange_(exchange),
        chunks_(chunks_of(operation, exchange.world())),
        segments_(longest_bytes(chunks_), exchange.options.segment_bytes) {}

  void run() {
    const auto steps = static_cast<std::size_t>(exchange_.world() - 1);
    const Pipeline pipeline{exchange_.neighbour(-1), exchange_.neighbour(1), steps * segments_.count,
                            std::min(exchange_.options.lookahead, segments_.count)};
    pipeline.run(exchange_.messenger, *this);
  }

  std::span<const std::byte> outgoing(std::size_t index) override { return part(index, 0); }
  std::span<std::byte> landing(std::size_t index) override { return part(index, -1); }
  void arrived(std::size_t) override {}

 private:
  std::span<std::byte> part(std::size_t index, int distance) const {
    const int step = static_cast<int>(index / segments_.count);
    const Part& chunk = chunks_[static_cast<std::size_t>(exchange_.neighbour(distance - step))];
    return span_of(operation_.output, segments_.of(chunk, index % segments_.count));
  }

  const Operation& operation_;
  Exchange& exchange_;
  const std::vector<Part> chunks_;
  const Segments segments_;
};

void place_own_part(const Exchange& exchange, const Operation& operation) {
  const Part own = part_of(operation, exchange.rank(), exchange.world());
  copy_unless_same(bytes_at(operation.output, own.offset_bytes), operation.input.data, own.bytes);
}

}  // namespace

void all_gather_ring(Exchange& exchange, const Operation& operation) {
  place_own_part(exchange, operation);
  RingAllGather(exchange, operation).run();
}

void all_gather_direct(Exchange& exchange, const Operation& operation) {
  place_own_part(exchange, operation);
  const std::vector<Part> parts = chunks_of(operation, exchange.world());
  const Part& own = parts[static_cast<std::size_t>(exchange.rank())];
  std::vector<Ticket> tickets;
  for (int distance = 1; distance < exchange.world(); ++distance) {
    const int peer = exchange.neighbour(-distance);
    const std::span<std::byte> place = span_of(operation.output, parts[static_cast<std::size_t>(peer)]);
    if (!place.empty()) tickets.push_back(exchange.messenger.receive(peer, place.data(), place.size()));
  }
  for (int distance = 1; distance < exchange.world() && own.bytes > 0; ++distance)
    tickets.push_back(exchange.messenger.send(exchange.neighbour(distance),
                                              bytes_at(operation.output, own.offset_bytes), own.bytes));
  for (Ticket& ticket : tickets) exchange.messenger.wait(ticket);
}

}  // namespace lockstep::comm
