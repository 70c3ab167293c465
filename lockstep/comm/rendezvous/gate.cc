#include "lockstep/comm/rendezvous/gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/log.h"
#include "lockstep/base/printable.h"
#include "lockstep/comm/rendezvous/own_host.h"
#include "lockstep/comm/rendezvous/socket.h"

namespace lockstep::comm {

void Gate::enter(base::UniqueFd fd, base::TimePoint now) {
  if (waiting_.size() >= kMostWaiting) waiting_.pop_front();
  waiting_.push_back({std::move(fd), now, ServerHandshake(key_, port_)});
  std::string greeting = waiting_.back().handshake.greeting();
  // The empty buffer of a new connection takes it whole; else the caller hears nothing and tries again.
  (void)write_some(waiting_.back().fd.get(), greeting);
}

std::optional<Gate::Admitted> Gate::read(int fd) {
  using State = ServerHandshake::State;
  const auto stranger =
      std::find_if(waiting_.begin(), waiting_.end(), [fd](const Stranger& s) { return s.fd.get() == fd; });
  if (stranger == waiting_.end()) return std::nullopt;
  State state = State::incomplete;
  ReadResult result = ReadResult::some;
  while (state == State::incomplete && result == ReadResult::some) {
    std::string bytes;
    result = read_some(fd, bytes, stranger->handshake.wanted_bytes());
    if (result == ReadResult::some) state = stranger->handshake.take(bytes);
  }
  if (state == State::incomplete && result == ReadResult::nothing_yet) return std::nullopt;
  std::optional<Admitted> admitted;
  if (state == State::granted)
    admitted = {std::move(stranger->fd), stranger->handshake.hello(), stranger->handshake.admission(state)};
  else
    turn_away(*stranger, state);
  waiting_.erase(stranger);
  return admitted;
}

// Said once a run: strangers could write the log full.
void Gate::turn_away(const Stranger& stranger, ServerHandshake::State state) {
  using State = ServerHandshake::State;
  if (state == State::wrong_key) {
    std::string refusal = stranger.handshake.admission(state);
    (void)write_some(stranger.fd.get(), refusal);
  }
  if ((state != State::wrong_key && state != State::other_version) || !turned_away_.empty()) return;
  const Hello& hello = stranger.handshake.hello();
  turned_away_ = state == State::other_version
                     ? "a rank of another version of Lockstep called, and was not let in. Next step: start "
                       "all ranks from the same installation"
                     : fmt::format(
                           "what says it is rank {} of {} on host {} called with another key, and was "
                           "not let in. Likely cause: {} differs between ranks, or they do not share "
                           "one store (--store, LOCKSTEP_STORE) in which they would find the same key",
                           hello.rank, hello.world, base::printable(host_name_of(hello.host)), kKeyVariable);
  base::log_warning("the run's server: " + turned_away_);
}

void Gate::drop_late(base::TimePoint now) {
  while (!waiting_.empty() && waiting_.front().since + kPatience <= now) waiting_.pop_front();
}

std::optional<base::TimePoint> Gate::next_deadline() const {
  if (waiting_.empty()) return std::nullopt;
  return waiting_.front().since + kPatience;
}

}  // namespace lockstep::comm
