#include "lockstep/comm/rendezvous/protocol.h"

#include <fmt/format.h>

namespace lockstep::comm {
namespace {

bool is_known(std::uint8_t type) {
  const bool from_rank = type >= static_cast<std::uint8_t>(MessageType::set) &&
                         type <= static_cast<std::uint8_t>(MessageType::goodbye);
  const bool from_server = type >= static_cast<std::uint8_t>(MessageType::accepted) &&
                           type <= static_cast<std::uint8_t>(MessageType::verdict);
  return from_rank || from_server;
}

}  // namespace

std::string encode(const Frame& frame) {
  const std::size_t length = kFrameHeadBytes - 4 + frame.body.size();
  if (length > kMaxFrameBytes)
    throw ProtocolError(fmt::format("a message of {} bytes is longer than the run's server takes ({} bytes)",
                                    length, kMaxFrameBytes));
  ByteWriter head;
  head.u32(static_cast<std::uint32_t>(length)).u8(static_cast<std::uint8_t>(frame.type)).u32(frame.request);
  return head.take() + frame.body;
}

std::optional<Frame> FrameReader::next() {
  const std::string_view waiting = std::string_view(buffer_).substr(taken_);
  if (waiting.size() < kFrameHeadBytes) return std::nullopt;
  ByteReader head(waiting.substr(0, kFrameHeadBytes));
  const std::size_t length = head.u32();
  const std::uint8_t type = head.u8();
  if (length < kFrameHeadBytes - 4 || length > kMaxFrameBytes || !is_known(type))
    throw ProtocolError(
        fmt::format("a message of type {} and {} bytes is not of this protocol", type, length));
  if (waiting.size() < 4 + length) return std::nullopt;
  Frame frame{static_cast<MessageType>(type), head.u32(),
              std::string(waiting.substr(kFrameHeadBytes, 4 + length - kFrameHeadBytes))};
  taken_ += 4 + length;
  if (taken_ == buffer_.size() || taken_ > kMaxFrameBytes) {
    buffer_.erase(0, taken_);
    taken_ = 0;
  }
  return frame;
}

ByteWriter& ByteWriter::integer(std::uint64_t value, int width) {
  for (int i = 0; i < width; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  return *this;
}

ByteWriter& ByteWriter::text(std::string_view value) {
  u32(static_cast<std::uint32_t>(value.size()));
  bytes_.append(value);
  return *this;
}

std::uint64_t ByteReader::integer(std::size_t width) {
  const std::string_view bytes = take(width);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return value;
}

std::string ByteReader::text() {
  const std::size_t count = u32();
  return std::string(take(count));
}

std::string_view ByteReader::take(std::size_t count) {
  if (count > bytes_.size()) throw ProtocolError("a message ends before its fields do");
  const std::string_view taken = bytes_.substr(0, count);
  bytes_.remove_prefix(count);
  return taken;
}

void ByteReader::finish() const {
  if (!bytes_.empty()) throw ProtocolError("a message is longer than its fields");
}

}  // namespace lockstep::comm
