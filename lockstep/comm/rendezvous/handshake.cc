#include "lockstep/comm/rendezvous/handshake.h"

namespace lockstep::comm {
namespace {

constexpr std::string_view kName = "LKS";
constexpr const char* kRankRole = "rank of a run";
constexpr const char* kServerRole = "server of a run";

std::string magic() {
  return std::string(kName) + kProtocolVersion;
}

std::string prove_meeting(const std::string& key, const char* role, std::string_view server_nonce,
                          std::string_view rank_nonce, int port, std::string_view hello) {
  return prove(key, role, {server_nonce, rank_nonce, std::to_string(port), hello});
}

// The pieces of a whole answer.
struct Answer {
  explicit Answer(std::string_view bytes)
      : nonce(bytes.substr(kMagicBytes, kNonceBytes)),
        proof(bytes.substr(kMagicBytes + kNonceBytes, kProofBytes)),
        hello(bytes.substr(kAnswerHeadBytes)) {}
  std::string_view nonce, proof, hello;
};

std::size_t hello_bytes(std::string_view head) {
  return static_cast<unsigned char>(head[kAnswerHeadBytes - 2]) +
         std::size_t{256} * static_cast<unsigned char>(head[kAnswerHeadBytes - 1]);
}

}  // namespace

Speaker speaker_of(std::string_view bytes) {
  const std::string_view name = bytes.substr(0, kName.size());
  if (!kName.starts_with(name)) return Speaker::stranger;
  const bool other = bytes.size() >= kMagicBytes && bytes[kName.size()] != kProtocolVersion;
  return other ? Speaker::other_version : Speaker::ours;
}

std::string ServerHandshake::greeting() const {
  return magic() + nonce_;
}

ServerHandshake::State ServerHandshake::take(std::string_view bytes) {
  answer_.append(bytes);
  const Speaker speaker = speaker_of(answer_);
  if (speaker == Speaker::stranger) return State::stranger;
  if (speaker == Speaker::other_version) return State::other_version;
  if (answer_.size() < kAnswerHeadBytes) return State::incomplete;
  wanted_bytes_ = kAnswerHeadBytes + hello_bytes(answer_);
  if (wanted_bytes_ > kAnswerHeadBytes + kMostHelloBytes) return State::stranger;
  return answer_.size() < wanted_bytes_ ? State::incomplete : judge();
}

// The proof is only compared whole: stopping at its first wrong byte would let a stranger guess it byte by
// byte.
ServerHandshake::State ServerHandshake::judge() {
  const Answer answer(answer_);
  try {
    hello_ = decode_hello(answer.hello);
  } catch (const ProtocolError&) {
    return State::stranger;
  }
  const std::string right = prove_meeting(key_, kRankRole, nonce_, answer.nonce, port_, answer.hello);
  return equal_in_constant_time(answer.proof, right) ? State::granted : State::wrong_key;
}

std::string ServerHandshake::admission(State state) const {
  if (state != State::granted) return std::string(kAdmissionBytes, static_cast<char>(Admission::wrong_key));
  const Answer answer(answer_);
  return static_cast<char>(Admission::granted) +
         prove_meeting(key_, kServerRole, nonce_, answer.nonce, port_, answer.hello);
}

std::string RankHandshake::answer(std::string_view greeting) {
  server_nonce_ = greeting.substr(kMagicBytes);
  const std::string proof = prove_meeting(key_, kRankRole, server_nonce_, nonce_, port_, hello_);
  const auto low = static_cast<char>(hello_.size() & 0xff);
  const auto high = static_cast<char>(hello_.size() >> 8);
  return magic() + nonce_ + proof + low + high + hello_;
}

bool RankHandshake::is_proof(std::string_view admission) const {
  return equal_in_constant_time(admission.substr(1),
                                prove_meeting(key_, kServerRole, server_nonce_, nonce_, port_, hello_));
}

}  // namespace lockstep::comm
