// Gradients are sent as 16-bit floats where a run asks for it: rounded before the reduction, reduced in that
// type, and widened again. They were divided by the samples of the global batch before, so that a sum over
// the workers is no larger than one worker's gradient would be; what exceeds f16's largest number, 65504,
// nevertheless, becomes infinite and ends the run as a loss that is not finite.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lockstep/comm/buffer.h"

namespace lockstep::parallel {

class Compression {
 public:
  Compression() = default;  // none
  // `name`: none, f16 or bf16.
  explicit Compression(const std::string& name);

  bool on() const { return sent_as_.has_value(); }
  comm::ElementType sent_type(comm::ElementType type) const { return sent_as_.value_or(type); }
  std::uint64_t sent_bytes(const comm::Buffer& values) const;

  // Between what is computed with (f32 where compression is on) and what is sent. Host memory: at once, on
  // the calling thread. Device memory: on torch's stream. Without compression, a copy.
  void pack(const comm::Buffer& sent, const comm::Buffer& values) const;
  void unpack(const comm::Buffer& values, const comm::Buffer& sent) const;

 private:
  std::optional<comm::ElementType> sent_as_;
};

}  // namespace lockstep::parallel
