#include "lockstep/comm/rendezvous/joining.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>

#include "lockstep/comm/rendezvous/messages.h"

namespace lockstep::comm {
namespace {

using Kind = base::CommError::Kind;

constexpr base::Nanoseconds kFirstPause = std::chrono::milliseconds(5);
constexpr base::Nanoseconds kLongestPause = std::chrono::milliseconds(250);
constexpr base::Nanoseconds kAnswerPatience = std::chrono::seconds(5);
// A server full of strangers may drop a rank before it could show its token; one that drops it so often does
// not know the token.
constexpr int kMostClosings = 5;
constexpr const char* kAbsentCause = "rank 0 or the launcher is not running";
constexpr const char* kSilentCause = "another program has this port, rank 0 is stopped";

std::string greeting(const RunClientOptions& options) {
  const Hello hello{kProtocolVersion, options.rank, options.world, this_host()};
  return preamble(token_bytes(options.token)) + encode(Frame{MessageType::hello, 0, encode(hello)});
}

// Thrown inside this file: whoever listens there has said nothing in all the time it was given.
struct KeepsSilent {};

// The server's first frame; nothing when it closed the connection.
std::optional<Frame> first_frame(int fd, FrameReader& reader, base::Deadline deadline) {
  while (wait_readable(fd, deadline)) {
    std::string bytes;
    if (read_some(fd, bytes, kMaxFrameBytes) == ReadResult::closed) return std::nullopt;
    reader.feed(bytes);
    if (auto frame = reader.next()) return frame;
  }
  throw KeepsSilent{};
}

bool is_acceptance(const RunClientOptions& options, const Frame& answer) {
  if (answer.type == MessageType::accepted) return true;
  if (answer.type == MessageType::verdict) throw RunEnded(decode_verdict(answer.body));
  if (answer.type == MessageType::refused)
    throw base::ConfigError(
        fmt::format("rank {} cannot join the run: {}", options.rank, ByteReader(answer.body).text()));
  return false;
}

class Attempts {
 public:
  Attempts(const RunClientOptions& options, base::Deadline deadline)
      : options_(options), deadline_(deadline) {}

  std::optional<Joined> attempt() {
    const auto server =
        options_.find_server ? options_.find_server() : Endpoint{options_.address, options_.port};
    if (!server) return fail("rank 0 has not said yet where it serves");
    last_server_ = *server;
    std::string why;
    auto fd = connect_once(*server, within(kAnswerPatience), why);
    if (!fd) return fail(std::move(why));
    tune_for_a_run(fd->get());
    Joined joined{std::move(*fd), {}, *server};
    try {
      if (!accepted(joined)) return fail("it closed the connection");
    } catch (const KeepsSilent&) {
      return fail("whoever listens there takes the connection and does not answer", kSilentCause);
    }
    return joined;
  }

  void pause() {
    std::this_thread::sleep_for(std::min(pause_, deadline_.left()));
    pause_ = std::min(2 * pause_, kLongestPause);
  }

  bool hopeless() const {
    return deadline_.passed() || (closings_ >= kMostClosings && !options_.find_server);
  }

  [[noreturn]] void give_up() const {
    if (closings_ >= kMostClosings)
      throw base::CommError(
          Kind::failed,
          fmt::format("rank {}: {} does not take this rank's token. Likely cause: another run or program has "
                      "this port, or LOCKSTEP_TOKEN or the user differs between ranks",
                      options_.rank, where()));
    throw base::CommError(
        Kind::timed_out,
        fmt::format(
            "rank {} could not reach the run's server at {}: {}. Likely cause: {}, or MASTER_ADDR and "
            "MASTER_PORT differ between ranks. Next step: start all ranks, with the same address and port, "
            "within the time that --join-timeout gives them",
            options_.rank, where(), why_, likely_cause_));
  }

 private:
  bool accepted(Joined& joined) {
    if (!write_all(joined.fd.get(), greeting(options_), within(kAnswerPatience))) return count_closing();
    try {
      const auto answer = first_frame(joined.fd.get(), joined.reader, within(kAnswerPatience));
      return (answer && is_acceptance(options_, *answer)) || count_closing();
    } catch (const ProtocolError&) {
      return count_closing();
    }
  }

  bool count_closing() {
    ++closings_;
    return false;
  }
  std::optional<Joined> fail(std::string why, const char* likely_cause = kAbsentCause) {
    why_ = std::move(why);
    likely_cause_ = likely_cause;
    return std::nullopt;
  }
  base::Deadline within(base::Nanoseconds most) const {
    return base::Deadline(std::min(most, deadline_.left()));
  }
  std::string where() const { return last_server_ ? to_text(*last_server_) : "an address not known yet"; }

  const RunClientOptions& options_;
  base::Deadline deadline_;
  base::Nanoseconds pause_ = kFirstPause;
  std::optional<Endpoint> last_server_;
  std::string why_ = "no attempt was made";
  const char* likely_cause_ = kAbsentCause;
  int closings_ = 0;
};

}  // namespace

Joined join_server(const RunClientOptions& options, base::Deadline deadline) {
  Attempts attempts(options, deadline);
  for (;;) {
    if (auto joined = attempts.attempt()) return std::move(*joined);
    if (attempts.hopeless()) attempts.give_up();
    attempts.pause();
  }
}

std::string this_host() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

}  // namespace lockstep::comm
