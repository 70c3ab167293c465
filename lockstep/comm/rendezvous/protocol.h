// What travels between a rank and the run's server.
//
// A connection opens with a handshake (handshake.h). Until it is over the server reads at most a few hundred
// bytes. Then both sides send frames:
//   length  u32  bytes that follow, at most kMaxFrameBytes
//   type    u8   MessageType
//   request u32  matches a reply to its request; 0 where there is none
//   body         fields as ByteWriter writes them
// Integers are little-endian. A side that receives anything else closes the connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lockstep/base/error.h"

namespace lockstep::comm {

inline constexpr std::size_t kFrameHeadBytes = 4 + 1 + 4;
inline constexpr std::size_t kMaxFrameBytes = std::size_t{1} << 20;

enum class MessageType : std::uint8_t {
  // from a rank
  set = 2,   // key, value                -> reply
  get,       // key, nanoseconds to wait  -> reply: found u8, value
  add,       // key, amount i64           -> reply: i64
  failure,   // FailureReport; the answer is the verdict
  position,  // OperationStatus: the answer to where_are_you
  goodbye,   // -> reply
  // from the server
  accepted = 64,  // this rank may join
  refused,        // why; the connection is closed
  welcome,        // every rank has arrived: their hosts, by rank
  reply,
  where_are_you,
  verdict,  // Verdict: the run has failed; end
};

struct Frame {
  MessageType type{};
  std::uint32_t request = 0;
  std::string body;
};

// Bytes that do not follow the protocol.
struct ProtocolError : base::CommError {
  explicit ProtocolError(const std::string& message) : CommError(Kind::failed, message) {}
};

std::string encode(const Frame& frame);

// Cuts a stream of bytes into frames.
class FrameReader {
 public:
  void feed(std::string_view bytes) { buffer_.append(bytes); }
  // The next whole frame. Throws ProtocolError for one that is too long, too short or of no known type, as
  // soon as its head is there.
  std::optional<Frame> next();

 private:
  std::string buffer_;
  std::size_t taken_ = 0;  // bytes of the buffer that were frames already
};

class ByteWriter {
 public:
  ByteWriter& u8(std::uint8_t value) { return integer(value, 1); }
  ByteWriter& u32(std::uint32_t value) { return integer(value, 4); }
  ByteWriter& i64(std::int64_t value) { return integer(static_cast<std::uint64_t>(value), 8); }
  ByteWriter& text(std::string_view value);
  std::string take() { return std::move(bytes_); }

 private:
  ByteWriter& integer(std::uint64_t value, int width);
  std::string bytes_;
};

// Reads what ByteWriter wrote; throws ProtocolError where bytes are missing.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  std::uint8_t u8() { return static_cast<std::uint8_t>(integer(1)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(integer(4)); }
  std::int64_t i64() { return static_cast<std::int64_t>(integer(8)); }
  std::string text();
  bool empty() const { return bytes_.empty(); }
  // Throws ProtocolError when bytes are left over.
  void finish() const;

 private:
  std::uint64_t integer(std::size_t width);
  std::string_view take(std::size_t count);
  std::string_view bytes_;
};

}  // namespace lockstep::comm
