// The pipeline: the one schedule behind the ring and the chain collectives.
//
// A rank receives a sequence of segments from one neighbour and sends a sequence to another; either may be
// missing at the ends of a chain. The pipeline keeps `lookahead` segments under way in each direction, so
// that segments travel while others are being reduced. Sending number i is begun when receiving number
// i-lookahead is over, so what is sent as number i may hang on anything received before i-lookahead+1.
//
// Why it cannot lock up: a rank that has finished i numbers has begun all up to i+lookahead, and needs from
// its neighbours only number i, which in a ring every rank that is not behind it has begun; in a chain a rank
// waits only for ranks before it, or for memory of messages that its successor was ready for.
#pragma once

#include <cstddef>
#include <span>

#include "lockstep/comm/algorithms/exchange.h"

namespace lockstep::comm {

// What a collective does with its segments, by number. An empty span moves nothing.
class PipelineWork {
 public:
  virtual ~PipelineWork() = default;
  virtual std::span<const std::byte> outgoing(std::size_t index) = 0;
  virtual std::span<std::byte> landing(std::size_t index) = 0;
  virtual void arrived(std::size_t index) = 0;
};

struct Pipeline {
  static constexpr int kNobody = -1;

  int from = kNobody;
  int to = kNobody;
  std::size_t length = 0;     // numbers; those with empty spans move nothing
  std::size_t lookahead = 1;  // at least 1

  void run(Messenger& messenger, PipelineWork& work) const;
};

}  // namespace lockstep::comm
