// What gloo's TCP transport adds to a message, as version 0.5 frames it (found by reading what crosses a
// socket). Every record on the connection starts with a preamble of six 64-bit words. A message between
// unbound buffers costs three records: the sender announces it, the receiver says that it is ready, and the
// data follow behind a preamble of their own.
#pragma once

#include <cstdint>

namespace lockstep::comm {

inline constexpr std::uint64_t kGlooPreambleBytes = 48;
// Sent by the sender of a message besides its bytes: the announcement and the preamble of the data.
inline constexpr std::uint64_t kGlooSenderBytesPerMessage = 2 * kGlooPreambleBytes;
// Sent by the receiver: that it is ready.
inline constexpr std::uint64_t kGlooReceiverBytesPerMessage = kGlooPreambleBytes;

}  // namespace lockstep::comm
