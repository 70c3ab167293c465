#include "lockstep/launch/adopted_rank.h"

#include <signal.h>

#include "lockstep/launch/process.h"

namespace lockstep::launch {

void AdoptedRank::started(pid_t pid) {
  pid_ = pid;
  pidfd_ = open_pidfd(pid);
}

bool AdoptedRank::is_gone() const {
  if (!has_started()) return lost_;
  if (!pidfd_) return kill(pid_, 0) != 0;
  pollfd end{pidfd_.get(), POLLIN, 0};
  return poll(&end, 1, 0) > 0;
}

bool AdoptedRank::stopped() const {
  return has_started() && !ended_ && is_stopped(pid_);
}

ExitStatus AdoptedRank::status() const {
  if (!has_started()) return {lost_ ? ExitStatus::Kind::vanished : ExitStatus::Kind::never_started, 0};
  if (!code_) return {ExitStatus::Kind::vanished, 0};
  return {ExitStatus::Kind::exited, *code_};
}

void AdoptedRank::watch(PollSet& polls) const {
  if (!ended_) polls.watch(pidfd_.get(), POLLIN, [](short) {});
}

void AdoptedRank::signal(int signal_number) const {
  if (!has_started() || ended_ || is_gone()) return;
  const bool leads_group = getpgid(pid_) == pid_;
  kill(leads_group ? -pid_ : pid_, signal_number);
}

}  // namespace lockstep::launch
