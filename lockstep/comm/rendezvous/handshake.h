// How a rank and the run's server show each other that they hold the run's key, before anything else is said.
//   server  greeting   magic, nonce
//   rank    answer     magic, nonce, proof, length of the hello u16, Hello
//   server  admission  Admission u8, proof
// A proof is prove(key, role, both nonces, the port that is meant, hello): made anew for every connection,
// good for one side and one server, and worth nothing to whoever records it. The magic is "LKS" and the
// protocol's version; the rank sends nothing but its answer until the server's proof is right.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "lockstep/comm/rendezvous/key.h"
#include "lockstep/comm/rendezvous/messages.h"

namespace lockstep::comm {

inline constexpr char kProtocolVersion = 2;
inline constexpr std::size_t kMagicBytes = 4;
inline constexpr std::size_t kGreetingBytes = kMagicBytes + kNonceBytes;
inline constexpr std::size_t kAnswerHeadBytes = kMagicBytes + kNonceBytes + kProofBytes + 2;
inline constexpr std::size_t kMostHelloBytes = 512;
inline constexpr std::size_t kAdmissionBytes = 1 + kProofBytes;

enum class Admission : char { granted = 1, wrong_key = 2 };

// Whose first bytes these are. As long as nothing contradicts it, ours.
enum class Speaker { ours, other_version, stranger };
Speaker speaker_of(std::string_view bytes);

// The server's side of one connection.
class ServerHandshake {
 public:
  enum class State { incomplete, stranger, other_version, wrong_key, granted };

  ServerHandshake(const std::string& key, int port) : key_(key), port_(port) {}

  std::string greeting() const;
  // Takes what the rank has sent, which may come in pieces, of at most wanted_bytes() each.
  State take(std::string_view bytes);
  std::size_t wanted_bytes() const { return wanted_bytes_ - answer_.size(); }
  // What the rank claims to be; true only in the state `granted`.
  const Hello& hello() const { return hello_; }
  // What to send in the states `wrong_key` and `granted`.
  std::string admission(State state) const;

 private:
  State judge();

  const std::string& key_;
  int port_;
  std::string nonce_ = make_nonce();
  std::string answer_;
  std::size_t wanted_bytes_ = kAnswerHeadBytes;
  Hello hello_;
};

// The rank's side.
class RankHandshake {
 public:
  RankHandshake(std::string key, int port, const Hello& hello)
      : key_(std::move(key)), port_(port), hello_(encode(hello)) {}

  // To a whole greeting.
  std::string answer(std::string_view greeting);
  // Whether a whole admission is the server's word; no stranger can make one.
  bool is_proof(std::string_view admission) const;

 private:
  std::string key_;
  int port_;
  std::string hello_;
  std::string server_nonce_;
  std::string nonce_ = make_nonce();
};

}  // namespace lockstep::comm
