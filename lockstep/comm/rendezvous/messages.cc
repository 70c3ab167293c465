#include "lockstep/comm/rendezvous/messages.h"

namespace lockstep::comm {
namespace {

using Kind = base::CommError::Kind;

// A message is for people: one that is longer than this is cut rather than refused.
constexpr std::size_t kMostTextBytes = 64 * 1024;

std::string_view cut(std::string_view text) {
  return text.substr(0, kMostTextBytes);
}

void write(ByteWriter& writer, const OperationStatus& position) {
  writer.i64(static_cast<std::int64_t>(position.sequence))
      .u8(position.running ? 1 : 0)
      .text(cut(position.description))
      .i64(position.since.count());
}

OperationStatus read_position(ByteReader& reader) {
  OperationStatus position;
  position.sequence = static_cast<std::uint64_t>(reader.i64());
  position.running = reader.u8() != 0;
  position.description = reader.text();
  position.since = base::Nanoseconds(reader.i64());
  return position;
}

Kind read_kind(ByteReader& reader) {
  const std::uint8_t kind = reader.u8();
  if (kind > static_cast<std::uint8_t>(Kind::collateral)) throw ProtocolError("a failure of no known kind");
  return static_cast<Kind>(kind);
}

base::ExitCode read_exit_code(ByteReader& reader) {
  const std::uint32_t code = reader.u32();
  if (code > 255) throw ProtocolError("an exit code above 255");
  return static_cast<base::ExitCode>(code);
}

int read_count(ByteReader& reader) {
  const std::uint32_t value = reader.u32();
  if (value > 0x7fffffff) throw ProtocolError("a rank or world out of range");
  return static_cast<int>(value);
}

}  // namespace

std::string encode(const Hello& hello) {
  return ByteWriter()
      .u32(static_cast<std::uint32_t>(hello.rank))
      .u32(static_cast<std::uint32_t>(hello.world))
      .text(hello.host)
      .take();
}

Hello decode_hello(std::string_view body) {
  ByteReader reader(body);
  Hello hello;
  hello.rank = read_count(reader);
  hello.world = read_count(reader);
  hello.host = reader.text();
  reader.finish();
  return hello;
}

std::string encode_welcome(const std::vector<std::string>& hosts) {
  ByteWriter writer;
  for (const std::string& host : hosts) writer.text(host);
  return writer.take();
}

std::vector<std::string> decode_welcome(std::string_view body) {
  ByteReader reader(body);
  std::vector<std::string> hosts;
  while (!reader.empty()) hosts.push_back(reader.text());
  return hosts;
}

std::string encode(const OperationStatus& position) {
  ByteWriter writer;
  write(writer, position);
  return writer.take();
}

OperationStatus decode_position(std::string_view body) {
  ByteReader reader(body);
  OperationStatus position = read_position(reader);
  reader.finish();
  return position;
}

std::string encode(const FailureReport& report) {
  ByteWriter writer;
  writer.u8(static_cast<std::uint8_t>(report.kind))
      .u32(static_cast<std::uint32_t>(report.exit_code))
      .text(cut(report.message));
  write(writer, report.position);
  return writer.take();
}

FailureReport decode_failure(std::string_view body) {
  ByteReader reader(body);
  FailureReport report;
  report.kind = read_kind(reader);
  report.exit_code = read_exit_code(reader);
  report.message = reader.text();
  report.position = read_position(reader);
  reader.finish();
  return report;
}

std::string encode(const Verdict& verdict) {
  return ByteWriter()
      .u32(static_cast<std::uint32_t>(verdict.rank + 1))
      .u8(static_cast<std::uint8_t>(verdict.kind))
      .u32(static_cast<std::uint32_t>(verdict.exit_code))
      .text(cut(verdict.message))
      .take();
}

Verdict decode_verdict(std::string_view body) {
  ByteReader reader(body);
  Verdict verdict;
  verdict.rank = read_count(reader) - 1;
  verdict.kind = read_kind(reader);
  verdict.exit_code = read_exit_code(reader);
  verdict.message = reader.text();
  reader.finish();
  return verdict;
}

}  // namespace lockstep::comm
