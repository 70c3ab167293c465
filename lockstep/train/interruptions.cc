#include "lockstep/train/interruptions.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/launch/exit_status.h"
#include "lockstep/launch/rank_output.h"

namespace lockstep::train {
namespace {

// Launchers may send a signal twice in a row, to the process and to its group.
constexpr base::Nanoseconds kImpatience = std::chrono::seconds(1);

// Whether whoever started this rank passes on what was sent to the run; else the signal is meant for this
// rank.
bool is_for_the_run(const comm::Identity& identity, long launcher, pid_t sender) {
  return !comm::started_by_hand(identity) && (sender == ::getppid() || sender == launcher);
}

}  // namespace

std::string describe(const Interrupter& why) {
  return why.rank
             ? fmt::format("rank {} was interrupted by {}", *why.rank, launch::signal_name(why.signal_number))
             : "interrupted";
}

Interruptions::Interruptions(const comm::Identity& identity, Action end_at_once)
    : identity_(identity),
      launcher_(base::environment_integer(launch::kLauncherPidVariable).value_or(-1)),
      end_at_once_(std::move(end_at_once)) {
  sigset_t held;
  sigemptyset(&held);
  sigaddset(&held, SIGTERM);
  sigaddset(&held, SIGINT);
  pthread_sigmask(SIG_BLOCK, &held, nullptr);
  signals_.reset(::signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK));
  stop_.reset(::eventfd(0, EFD_CLOEXEC));
  if (!signals_ || !stop_) throw base::ConfigError("cannot watch for signals: " + base::errno_text());
  thread_ = std::thread([this] { serve(); });
}

Interruptions::~Interruptions() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

Interruptions::Instead::Instead(Interruptions& interruptions, Action end_at_once)
    : interruptions_(interruptions) {
  const std::lock_guard lock(interruptions.mutex_);
  interruptions.end_at_once_ = std::move(end_at_once);
}

Interruptions::Asked::Asked(Interruptions& interruptions, Action action) : interruptions_(interruptions) {
  const std::lock_guard lock(interruptions.mutex_);
  interruptions.ask_ = std::move(action);
}

void Interruptions::pass_over() {
  const std::lock_guard lock(mutex_);
  ask_ = nullptr;
  over_ = true;
}

void Interruptions::serve() {
  std::array<pollfd, 2> wanted{{{signals_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
  while (wanted[1].revents == 0) {
    ::poll(wanted.data(), wanted.size(), -1);
    signalfd_siginfo info{};
    if (::read(signals_.get(), &info, sizeof info) != sizeof info) continue;
    Interrupter why{static_cast<int>(info.ssi_signo), std::nullopt};
    if (!is_for_the_run(identity_, launcher_, static_cast<pid_t>(info.ssi_pid)))
      why.rank = identity_.group.rank;
    received(why);
  }
}

void Interruptions::received(const Interrupter& why) {
  const std::lock_guard lock(mutex_);
  if (over_) return;
  if (ask_ == nullptr || (asked_at_ && base::now() - *asked_at_ >= kImpatience)) return end_at_once_(why);
  if (!asked_at_) asked_at_ = base::now();
  ask_(why);
}

}  // namespace lockstep::train
