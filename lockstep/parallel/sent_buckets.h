// What of the buckets goes on its way: they themselves, or copies of 16 bits an element in memory of their
// own.
#pragma once

#include <vector>

#include "lockstep/comm/communicator.h"
#include "lockstep/measure/memory_account.h"
#include "lockstep/parallel/buckets.h"
#include "lockstep/parallel/compression.h"

namespace lockstep::parallel {

class SentBuckets {
 public:
  // Collective. `whole` is all buckets' memory; without compression nothing is allocated.
  SentBuckets(Compression compression, const comm::Buffer& whole, comm::Communicator& communicator,
              measure::MemoryAccount& memory);

  bool compressed() const { return compression_.on(); }
  // Follows the buckets to their new places.
  void arrange(const Buckets& buckets);
  const comm::Buffer& buffer(std::size_t bucket) const { return sent_[bucket]; }
  // Before and after a bucket is reduced. Nothing to do without compression.
  void pack(const Buckets& buckets, std::size_t bucket) const;
  void unpack(const Buckets& buckets, std::size_t bucket) const;

 private:
  Compression compression_;
  measure::Reservation reserved_;
  comm::Allocation memory_;
  std::vector<comm::Buffer> sent_;
};

}  // namespace lockstep::parallel
