#include "lockstep/parallel/sent_buckets.h"

namespace lockstep::parallel {

SentBuckets::SentBuckets(Compression compression, const comm::Buffer& whole, comm::Communicator& communicator,
                         measure::MemoryAccount& memory)
    : compression_(compression) {
  if (!compressed()) return;
  reserved_ = measure::Reservation(memory, measure::Use::buckets, compression_.sent_bytes(whole));
  memory_ = communicator.allocate(compression_.sent_bytes(whole));
}

// A copy lies where its bucket does, in proportion: so it begins aligned too.
void SentBuckets::arrange(const Buckets& buckets) {
  sent_.clear();
  const comm::Buffer whole = buckets.whole();
  for (std::size_t bucket = 0; bucket < buckets.count(); ++bucket) {
    const comm::Buffer& values = buckets.buffer(bucket);
    if (!compressed()) {
      sent_.push_back(values);
      continue;
    }
    const auto before = static_cast<std::size_t>(static_cast<const std::byte*>(values.data) -
                                                 static_cast<const std::byte*>(whole.data));
    sent_.push_back(
        memory_.buffer(compression_.sent_type(values.type))
            .part(compression_.sent_bytes(whole.part(0, before)), compression_.sent_bytes(values)));
  }
}

void SentBuckets::pack(const Buckets& buckets, std::size_t bucket) const {
  if (compressed()) compression_.pack(sent_[bucket], buckets.buffer(bucket));
}

void SentBuckets::unpack(const Buckets& buckets, std::size_t bucket) const {
  if (compressed()) compression_.unpack(buckets.buffer(bucket), sent_[bucket]);
}

}  // namespace lockstep::parallel
