#include "lockstep/parallel/sent_buckets.h"

namespace lockstep::parallel {

SentBuckets::SentBuckets(Compression compression, const comm::Buffer& whole, comm::Communicator& communicator,
                         measure::MemoryAccount& memory)
    : compression_(compression) {
  if (!compressed()) return;
  reserved_ = measure::Reservation(memory, measure::Use::buckets, compression_.sent_bytes(whole));
  memory_ = communicator.allocate(compression_.sent_bytes(whole));
}

void SentBuckets::arrange(const Buckets& buckets) {
  sent_.clear();
  std::size_t offset = 0;
  for (std::size_t bucket = 0; bucket < buckets.count(); ++bucket) {
    const comm::Buffer& values = buckets.buffer(bucket);
    const std::size_t bytes = compression_.sent_bytes(values);
    sent_.push_back(compressed() ? memory_.buffer(compression_.sent_type(values.type)).part(offset, bytes)
                                 : values);
    offset += bytes;
  }
}

void SentBuckets::pack(const Buckets& buckets, std::size_t bucket) const {
  if (compressed()) compression_.pack(sent_[bucket], buckets.buffer(bucket));
}

void SentBuckets::unpack(const Buckets& buckets, std::size_t bucket) const {
  if (compressed()) compression_.unpack(buckets.buffer(bucket), sent_[bucket]);
}

}  // namespace lockstep::parallel
