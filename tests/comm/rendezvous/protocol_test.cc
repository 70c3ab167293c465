#include "lockstep/comm/rendezvous/protocol.h"

#include <gtest/gtest.h>

#include <random>

#include "lockstep/comm/rendezvous/messages.h"

namespace lockstep::comm {
namespace {

TEST(Protocol, CutsAStreamIntoItsFramesHoweverItArrives) {
  const std::string stream =
      encode(Frame{MessageType::set, 7, "abc"}) + encode(Frame{MessageType::welcome, 0, ""});
  FrameReader reader;
  std::vector<Frame> frames;
  for (const char byte : stream) {
    reader.feed(std::string(1, byte));
    while (auto frame = reader.next()) frames.push_back(*frame);
  }
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].type, MessageType::set);
  EXPECT_EQ(frames[0].request, 7U);
  EXPECT_EQ(frames[0].body, "abc");
  EXPECT_EQ(frames[1].type, MessageType::welcome);
}

TEST(Protocol, RefusesALongFrameByItsHeadAlone) {
  FrameReader reader;
  reader.feed(ByteWriter().u32(kMaxFrameBytes + 1).u8(2).u32(0).take());
  EXPECT_THROW(reader.next(), ProtocolError);
  EXPECT_THROW(encode(Frame{MessageType::set, 0, std::string(kMaxFrameBytes, 'x')}), ProtocolError);
}

TEST(Protocol, RefusesShortFramesAndUnknownTypes) {
  FrameReader too_short;
  too_short.feed(ByteWriter().u32(4).u8(2).u32(0).take());
  EXPECT_THROW(too_short.next(), ProtocolError);
  FrameReader unknown;
  unknown.feed(ByteWriter().u32(5).u8(33).u32(0).take());
  EXPECT_THROW(unknown.next(), ProtocolError);
}

TEST(Protocol, CarriesEveryMessageUnchanged) {
  const OperationStatus position{42, true, "all_reduce (sum) of 3 f32 over shm", std::chrono::seconds(3)};
  const FailureReport report{base::CommError::Kind::peer_lost, base::ExitCode::timed_out, "lost", position};
  const FailureReport read = decode_failure(encode(report));
  EXPECT_EQ(read.kind, report.kind);
  EXPECT_EQ(read.exit_code, report.exit_code);
  EXPECT_EQ(read.message, "lost");
  EXPECT_EQ(read.position.sequence, 42U);
  EXPECT_EQ(read.position.description, position.description);
  EXPECT_EQ(read.position.since, position.since);
  const Verdict verdict = decode_verdict(
      encode(Verdict{-1, base::CommError::Kind::disagreement, static_cast<base::ExitCode>(130), "ctrl-c"}));
  EXPECT_EQ(verdict.rank, -1);
  EXPECT_EQ(static_cast<int>(verdict.exit_code), 130);
  const Hello hello = decode_hello(encode(Hello{3, 8, "host"}));
  EXPECT_EQ(hello.rank, 3);
  EXPECT_EQ(hello.host, "host");
  const std::vector<std::string> hosts = {"one", "", "two"};
  EXPECT_EQ(decode_welcome(encode_welcome(hosts)), hosts);
}

TEST(Protocol, RefusesBodiesThatAreCutOrTooLong) {
  const std::string whole = encode(FailureReport{});
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_THROW(decode_failure(whole.substr(0, length)), ProtocolError);
  EXPECT_THROW(decode_failure(whole + "x"), ProtocolError);
}

// Whatever bytes come, decoding either works or throws ProtocolError: no crash, no endless loop.
TEST(Protocol, SurvivesGarbage) {
  std::mt19937 random(1);
  const std::string good = encode(Frame{MessageType::failure, 1, encode(FailureReport{})});
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = good;
    for (int changes = 0; changes < 3; ++changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    bytes.resize(random() % (bytes.size() + 1));
    FrameReader reader;
    reader.feed(bytes);
    try {
      while (const auto frame = reader.next()) {
        (void)decode_failure(frame->body);
      }
    } catch (const ProtocolError&) {
    }
    try {
      (void)decode_hello(bytes);
      (void)decode_verdict(bytes);
    } catch (const ProtocolError&) {
    }
  }
}

}  // namespace
}  // namespace lockstep::comm
