#include "lockstep/comm/rendezvous/gate.h"

#include <algorithm>

#include "lockstep/comm/rendezvous/socket.h"

namespace lockstep::comm {

void Gate::enter(base::UniqueFd fd, base::TimePoint now) {
  if (waiting_.size() >= kMostWaiting) waiting_.pop_front();
  waiting_.push_back({std::move(fd), now, {}});
}

std::optional<base::UniqueFd> Gate::read(int fd) {
  const auto stranger =
      std::find_if(waiting_.begin(), waiting_.end(), [fd](const Stranger& s) { return s.fd.get() == fd; });
  if (stranger == waiting_.end()) return std::nullopt;
  const ReadResult result = read_some(fd, stranger->shown, kPreambleBytes - stranger->shown.size());
  if (result == ReadResult::nothing_yet) return std::nullopt;
  const Look look = result == ReadResult::closed ? Look::wrong : look_at(stranger->shown);
  if (look == Look::incomplete) return std::nullopt;
  base::UniqueFd known = std::move(stranger->fd);
  waiting_.erase(stranger);
  if (look == Look::wrong) return std::nullopt;
  return known;
}

Gate::Look Gate::look_at(const std::string& shown) const {
  const std::string_view magic = std::string_view(shown).substr(0, kMagic.size());
  if (!kMagic.starts_with(magic)) return Look::wrong;
  if (shown.size() < kPreambleBytes) return Look::incomplete;
  return equal_in_constant_time(shown, preamble_) ? Look::right : Look::wrong;
}

void Gate::drop_late(base::TimePoint now) {
  while (!waiting_.empty() && waiting_.front().since + kPatience <= now) waiting_.pop_front();
}

std::optional<base::TimePoint> Gate::next_deadline() const {
  if (waiting_.empty()) return std::nullopt;
  return waiting_.front().since + kPatience;
}

}  // namespace lockstep::comm
