#include "lockstep/launch/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include "lockstep/base/error.h"

namespace lockstep::launch {
namespace {

// The kernel queues a blocked signal even when it is ignored, so ignored ones must stay unblocked.
bool is_ignored(int signal_number) {
  struct sigaction current {};
  sigaction(signal_number, nullptr, &current);
  return current.sa_handler == SIG_IGN;
}

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP})
    if (!is_ignored(signal_number)) sigaddset(&set, signal_number);
  return set;
}

}  // namespace

SignalWatch::SignalWatch() {
  const sigset_t set = ending_signals();
  fd_.reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_) throw base::ConfigError("cannot watch for signals: " + base::errno_text());
  pthread_sigmask(SIG_BLOCK, &set, &mask_before_);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &pipe_before_);
}

SignalWatch::~SignalWatch() {
  while (next()) {
  }
  sigaction(SIGPIPE, &pipe_before_, nullptr);
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

void SignalWatch::watch(PollSet& polls) const {
  polls.watch(fd_.get(), POLLIN, [](short) {});
}

std::optional<int> SignalWatch::next() const {
  signalfd_siginfo info{};
  if (read(fd_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  sender_ = static_cast<pid_t>(info.ssi_pid);
  return static_cast<int>(info.ssi_signo);
}

HeldSignals::HeldSignals() : set_(ending_signals()) {
  pthread_sigmask(SIG_BLOCK, &set_, &before_);
}

HeldSignals::~HeldSignals() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool HeldSignals::came() const {
  sigset_t pending;
  sigpending(&pending);
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    if (sigismember(&set_, number) && sigismember(&pending, number)) return true;
  return false;
}

int HeldSignals::take() const {
  const timespec no_wait{};
  const int number = sigtimedwait(&set_, nullptr, &no_wait);
  return number > 0 ? number : 0;
}

}  // namespace lockstep::launch
