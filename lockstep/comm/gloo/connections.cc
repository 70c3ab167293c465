#include "lockstep/comm/gloo/connections.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <list>
#include <sstream>
#include <thread>

#include "lockstep/base/error.h"
#include "lockstep/base/sha256.h"
#include "lockstep/comm/rendezvous/key.h"
#include "lockstep/comm/rendezvous/protocol.h"
#include "lockstep/comm/rendezvous/socket.h"
#include "lockstep/comm/rendezvous/verdict.h"

namespace lockstep::comm {
namespace {

using base::CommError;
using base::Nanoseconds;

constexpr std::string_view kGlooMagic = "LKG\x01";
constexpr std::size_t kCallBytes = kGlooMagic.size() + sizeof(std::uint32_t) + kProofBytes;
// Strangers cost next to nothing: so many may wait, so long, before they have proved anything. A rank that is
// turned away with them calls again.
constexpr std::size_t kMostCallers = 64;
constexpr Nanoseconds kCallerPatience = std::chrono::seconds(5);
constexpr Nanoseconds kAnswerPatience = std::chrono::seconds(5);
constexpr Nanoseconds kFirstCallPause = std::chrono::milliseconds(5);
constexpr Nanoseconds kLongestCallPause = std::chrono::milliseconds(250);

// Where a rank listens, and its nonce.
struct Member {
  Endpoint endpoint;
  std::string nonce;
};

// Somebody who has connected and not yet proved to be a rank.
struct Caller {
  base::UniqueFd fd;
  base::TimePoint since;
  std::string said;
};

class Opening {
 public:
  Opening(Store& store, const Group& group, const ConnectionOptions& options)
      : store_(store, options.channel),
        group_(group),
        options_(options),
        listener_(listen_at({options.address, 0})),
        members_(static_cast<std::size_t>(group.world)),
        connections_(static_cast<std::size_t>(group.world)) {}

  std::vector<base::UniqueFd> run() {
    introduce();
    for (int peer = 0; peer < group_.rank; ++peer) connections_[index(peer)] = call(peer);
    while (!missing().empty()) answer_callers();
    return std::move(connections_);
  }

 private:
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

  void introduce() {
    members_[index(group_.rank)] = {{options_.address, port_of(listener_.get())},
                                    base::hexadecimal(make_nonce())};
    const Member& own = members_[index(group_.rank)];
    store_.set(std::to_string(group_.rank),
               fmt::format("{} {} {}", own.endpoint.address, own.endpoint.port, own.nonce));
    for (int peer = 0; peer < group_.world; ++peer) {
      if (peer == group_.rank) continue;
      Member& member = members_[index(peer)];
      std::istringstream words(store_.get(std::to_string(peer), options_.deadline));
      words >> member.endpoint.address >> member.endpoint.port >> member.nonce;
    }
  }

  // That `from` is a rank of this run and means this connection with `to`.
  std::string proof(std::string_view direction, int from, int to) const {
    return prove(options_.key, fmt::format("gloo {}", direction),
                 {options_.channel, std::to_string(from), std::to_string(to), members_[index(from)].nonce,
                  members_[index(to)].nonce});
  }

  base::UniqueFd call(int peer) const {
    std::string why;
    for (Nanoseconds pause = kFirstCallPause;; pause = std::min(2 * pause, kLongestCallPause)) {
      base::UniqueFd fd = call_once(peer, why);
      if (fd) return fd;
      if (options_.deadline.passed()) fail(fmt::format("rank {}", peer), why);
      std::this_thread::sleep_for(std::min(pause, options_.deadline.left()));
    }
  }

  base::UniqueFd call_once(int peer, std::string& why) const {
    auto fd = connect_once(members_[index(peer)].endpoint, options_.deadline, why);
    if (!fd) return {};
    const std::string words = std::string(kGlooMagic) +
                              ByteWriter().u32(static_cast<std::uint32_t>(group_.rank)).take() +
                              proof("call", group_.rank, peer);
    why = "it closed the connection";
    if (!write_all(fd->get(), words, base::Deadline(kAnswerPatience))) return {};
    std::string answer;
    while (answer.size() < kProofBytes) {
      if (!wait_readable(fd->get(), options_.deadline)) {
        why = "it does not answer";
        return {};
      }
      if (read_some(fd->get(), answer, kProofBytes - answer.size()) == ReadResult::closed) return {};
    }
    why = "whoever answers there does not hold the run's key";
    return equal_in_constant_time(answer, proof("answer", peer, group_.rank)) ? std::move(*fd)
                                                                              : base::UniqueFd();
  }

  std::vector<int> missing() const {
    std::vector<int> ranks;
    for (int peer = group_.rank + 1; peer < group_.world; ++peer)
      if (!connections_[index(peer)]) ranks.push_back(peer);
    return ranks;
  }

  void answer_callers() {
    if (options_.deadline.passed()) fail(rank_list(missing()), "nothing came from there");
    std::vector<pollfd> wanted = {{listener_.get(), POLLIN, 0}};
    base::Deadline until = options_.deadline;
    for (const Caller& caller : callers_) {
      wanted.push_back({caller.fd.get(), POLLIN, 0});
      const base::Deadline late(caller.since, kCallerPatience);
      if (late.at() < until.at()) until = late;
    }
    ::poll(wanted.data(), wanted.size(), until.left_milliseconds());
    admit();
    std::erase_if(callers_, [this](Caller& caller) {
      return hear(caller) || base::Deadline(caller.since, kCallerPatience).passed();
    });
  }

  void admit() {
    bool out_of_files = false;
    while (auto fd = accept_one(listener_.get(), out_of_files)) {
      if (callers_.size() >= kMostCallers) callers_.pop_front();
      callers_.push_back({std::move(*fd), base::now(), {}});
    }
    if (!out_of_files) return;
    callers_.clear();
    std::this_thread::sleep_for(kLongestCallPause);
  }

  // Whether there is nothing more to hear from this caller.
  bool hear(Caller& caller) {
    const ReadResult result = read_some(caller.fd.get(), caller.said, kCallBytes - caller.said.size());
    if (result == ReadResult::nothing_yet) return false;
    if (result == ReadResult::closed) return true;
    if (!kGlooMagic.starts_with(caller.said.substr(0, kGlooMagic.size()))) return true;
    if (caller.said.size() < kCallBytes) return false;
    const std::uint32_t rank = ByteReader(caller.said.substr(kGlooMagic.size(), sizeof rank)).u32();
    if (rank <= index(group_.rank) || rank >= members_.size() || connections_[rank]) return true;
    const int peer = static_cast<int>(rank);
    const std::string shown = caller.said.substr(kCallBytes - kProofBytes);
    if (!equal_in_constant_time(shown, proof("call", peer, group_.rank))) return true;
    if (write_all(caller.fd.get(), proof("answer", group_.rank, peer), base::Deadline(kAnswerPatience)))
      connections_[rank] = std::move(caller.fd);
    return true;
  }

  [[noreturn]] void fail(const std::string& whom, const std::string& why) const {
    throw CommError(CommError::Kind::timed_out,
                    fmt::format("rank {}: cannot connect to {} over gloo (from {}): {}. Is the interface the "
                                "one that reaches the others?",
                                group_.rank, whom, options_.address, why));
  }

  PrefixStore store_;
  const Group& group_;
  const ConnectionOptions& options_;
  base::UniqueFd listener_;
  std::vector<Member> members_;
  std::vector<base::UniqueFd> connections_;
  std::list<Caller> callers_;
};

}  // namespace

std::vector<base::UniqueFd> connect_ranks(Store& store, const Group& group,
                                          const ConnectionOptions& options) {
  return Opening(store, group, options).run();
}

std::size_t unread_bytes(int socket) {
  int bytes = 0;
  return ::ioctl(socket, FIONREAD, &bytes) == 0 && bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

}  // namespace lockstep::comm
