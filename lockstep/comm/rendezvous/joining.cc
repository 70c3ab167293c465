#include "lockstep/comm/rendezvous/joining.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "lockstep/comm/rendezvous/handshake.h"
#include "lockstep/comm/rendezvous/own_host.h"

namespace lockstep::comm {
namespace {

using Kind = base::CommError::Kind;

constexpr base::Nanoseconds kFirstPause = std::chrono::milliseconds(5);
constexpr base::Nanoseconds kLongestPause = std::chrono::milliseconds(250);
constexpr base::Nanoseconds kAnswerPatience = std::chrono::seconds(5);
// A key may change while an earlier run ends; who fails so often fails for good.
constexpr int kMostFailures = 5;
constexpr base::Nanoseconds kShortestDoubt = std::chrono::seconds(3);

// Why an attempt came to nothing. Up to `closed` the server may still come, or have been full of strangers.
enum class Trouble { absent, silent, closed, stranger, other_version, wrong_key, impostor };

constexpr const char* kStartAll =
    "Next step: start all ranks, with the same address and port, within the time that --join-timeout gives "
    "them";

// Thrown inside this file.
struct Failed {
  Trouble trouble;
  std::string why;
};

class Attempts {
 public:
  Attempts(const RunClientOptions& options, base::Deadline deadline)
      : options_(options), deadline_(deadline) {}

  std::optional<Joined> attempt() {
    try {
      last_ = options_.find_server
                  ? options_.find_server()
                  : MeetingPoint{options_.key, Endpoint{options_.address, options_.port}, true};
      if (!last_.server) throw Failed{Trouble::absent, "rank 0 has not said yet where it serves"};
      std::string why;
      auto fd = connect_once(*last_.server, within(kAnswerPatience), why);
      if (!fd) throw Failed{Trouble::absent, std::move(why)};
      tune_for_a_run(fd->get());
      Joined joined{std::move(*fd), {}, last_};
      shake_hands(joined);
      return joined;
    } catch (const Failed& failed) {
      failures_ = failed.trouble == trouble_ ? failures_ + 1 : 1;
      if (failures_ == 1) since_ = base::now();
      trouble_ = failed.trouble;
      why_ = failed.why;
      return std::nullopt;
    }
  }

  void pause() {
    std::this_thread::sleep_for(std::min(pause_, deadline_.left()));
    pause_ = std::min(2 * pause_, kLongestPause);
  }

  // Another's key in a file that rank 0 has not seen is one that rank 0 will never see. Where rank 0 has
  // been, an earlier run may have been the one, and this run's rank 0 is still to come.
  bool hopeless() const {
    if (deadline_.passed()) return true;
    const bool may_come = trouble_ <= Trouble::closed;
    if (may_come || failures_ < kMostFailures) return false;
    if (!options_.find_server) return true;
    return !last_.said_by_rank_0 && base::now() - since_ >= kShortestDoubt;
  }

  [[noreturn]] void give_up() const {
    switch (trouble_) {
      case Trouble::absent:
      case Trouble::silent:
      case Trouble::closed:
        throw base::CommError(
            Kind::timed_out,
            fmt::format("rank {} could not reach the run's server at {}: {}. Likely cause: {}. {}",
                        options_.rank, where(), why_, likely_cause(), kStartAll));
      case Trouble::stranger:
        throw base::CommError(
            Kind::failed,
            fmt::format("rank {}: what listens at {} is no Lockstep server: {}. Likely cause: another "
                        "program has this port, or an older Lockstep serves there. Next step: choose "
                        "another port (MASTER_PORT), or start all ranks from the same installation",
                        options_.rank, where(), why_));
      case Trouble::other_version:
        throw base::ConfigError(
            fmt::format("rank {} cannot join the run at {}: {}. Next step: start all ranks from the same "
                        "installation",
                        options_.rank, where(), why_));
      case Trouble::wrong_key:
      case Trouble::impostor:
        break;
    }
    throw base::CommError(
        Kind::failed, fmt::format("rank {}: the Lockstep server at {} {}. {}", options_.rank, where(),
                                  trouble_ == Trouble::wrong_key ? "holds another key than this rank"
                                                                 : "cannot show that it holds this run's key",
                                  key_advice()));
  }

 private:
  // Says nothing but the answer before the server has proved itself.
  void shake_hands(Joined& joined) {
    const Hello hello{options_.rank, options_.world, options_.host};
    RankHandshake handshake(joined.met_at.key, joined.met_at.server->port, hello);
    const int fd = joined.fd.get();
    const std::string answer = handshake.answer(read_greeting(fd));
    if (!write_all(fd, answer, within(kAnswerPatience))) throw Failed{Trouble::closed, kClosed};
    const std::string admission = read_exactly(fd, kAdmissionBytes);
    if (admission.size() < kAdmissionBytes) throw Failed{Trouble::closed, kClosed};
    if (admission.front() == static_cast<char>(Admission::wrong_key)) throw Failed{Trouble::wrong_key, ""};
    if (!handshake.is_proof(admission)) throw Failed{Trouble::impostor, ""};
    require_acceptance(joined);
  }

  std::string read_greeting(int fd) const {
    const std::string greeting = read_exactly(fd, kGreetingBytes);
    switch (speaker_of(greeting)) {
      case Speaker::stranger:
        throw Failed{Trouble::stranger, "it does not greet as one"};
      case Speaker::other_version:
        throw Failed{Trouble::other_version,
                     fmt::format("its server speaks version {} of the protocol, this rank version {}",
                                 static_cast<int>(static_cast<unsigned char>(greeting[kMagicBytes - 1])),
                                 static_cast<int>(kProtocolVersion))};
      case Speaker::ours:
        break;
    }
    if (greeting.size() < kGreetingBytes)
      throw Failed{Trouble::stranger, "it closed the connection silently"};
    return greeting;
  }

  // Shorter when the other side closed the connection, or is not of ours.
  std::string read_exactly(int fd, std::size_t count) const {
    const base::Deadline patience = within(kAnswerPatience);
    std::string bytes;
    while (bytes.size() < count && wait_readable(fd, patience)) {
      if (read_some(fd, bytes, count - bytes.size()) == ReadResult::closed) return bytes;
      if (count == kGreetingBytes && speaker_of(bytes) != Speaker::ours) return bytes;
    }
    if (bytes.size() < count)
      throw Failed{Trouble::silent, "whoever listens there takes the connection and does not answer"};
    return bytes;
  }

  void require_acceptance(Joined& joined) const {
    const base::Deadline patience = within(kAnswerPatience);
    try {
      std::optional<Frame> word;
      while (!(word = joined.reader.next())) {
        std::string bytes;
        if (!wait_readable(joined.fd.get(), patience))
          throw Failed{Trouble::silent, "the server does not say whether this rank may join"};
        if (read_some(joined.fd.get(), bytes, kMaxFrameBytes) == ReadResult::closed)
          throw Failed{Trouble::closed, kClosed};
        joined.reader.feed(bytes);
      }
      if (word->type == MessageType::verdict) throw RunEnded(decode_verdict(word->body));
      if (word->type == MessageType::refused)
        throw base::ConfigError(
            fmt::format("rank {} cannot join the run: {}", options_.rank, ByteReader(word->body).text()));
      if (word->type != MessageType::accepted) throw ProtocolError("no word of acceptance");
    } catch (const ProtocolError&) {
      throw Failed{Trouble::closed, "it said what no server of this version says"};
    }
  }

  std::string likely_cause() const {
    if (trouble_ == Trouble::silent) return "another program has this port, rank 0 is stopped";
    std::string cause =
        "rank 0 or the launcher is not running, or MASTER_ADDR and MASTER_PORT differ between ranks";
    if (options_.find_server)
      cause += fmt::format(
          ", or {} is not the same file on rank 0's host: the store (--store, LOCKSTEP_STORE) is not shared "
          "between the hosts, and {} is not set",
          options_.find_server_in, kKeyVariable);
    if (last_.server && is_loopback(last_.server->address))
      cause += ", or rank 0 is on another host: a loopback address reaches this host alone";
    return cause;
  }

  std::string key_advice() const {
    if (options_.find_server)
      return fmt::format(
          "Likely cause: the store is not shared between the hosts, so that {} is not the file that rank 0 "
          "has. Next step: name a store that all hosts share (--store, LOCKSTEP_STORE), or export {} on "
          "every rank, the same (`openssl rand -hex 32` makes one)",
          options_.find_server_in, kKeyVariable);
    return fmt::format(
        "Likely cause: another run or program has this port, or {} differs between ranks. Next step: export "
        "the same {} on every rank, and choose a port that no other run uses",
        kKeyVariable, kKeyVariable);
  }

  base::Deadline within(base::Nanoseconds most) const {
    return base::Deadline(std::min(most, deadline_.left()));
  }
  std::string where() const { return last_.server ? to_text(*last_.server) : "an address not known yet"; }

  static constexpr const char* kClosed = "it closed the connection";

  const RunClientOptions& options_;
  base::Deadline deadline_;
  base::Nanoseconds pause_ = kFirstPause;
  MeetingPoint last_;
  Trouble trouble_ = Trouble::absent;
  std::string why_ = "no attempt was made";
  int failures_ = 0;
  base::TimePoint since_;
};

}  // namespace

Joined join_server(const RunClientOptions& options, base::Deadline deadline) {
  Attempts attempts(options, deadline);
  for (;;) {
    if (auto joined = attempts.attempt()) return std::move(*joined);
    if (attempts.hopeless()) attempts.give_up();
    options.still_wanted();
    attempts.pause();
  }
}

}  // namespace lockstep::comm
