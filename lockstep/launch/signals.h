// The signals that end a run, turned into something a wait can see.
#pragma once

#include <signal.h>

#include <optional>

#include "lockstep/base/unique_fd.h"
#include "lockstep/launch/poll_set.h"

namespace lockstep::launch {

// While one exists, SIGINT, SIGTERM and SIGHUP are queued instead of delivered (except those that whoever
// started us had ignored, as nohup does), and a closed pipe is an error instead of SIGPIPE. One at a time, on
// the main thread.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  void watch(PollSet& polls) const;
  // The next signal that came, without waiting.
  std::optional<int> next() const;
  // Of the last one: the process that sent it.
  pid_t sender() const { return sender_; }

 private:
  base::UniqueFd fd_;
  mutable pid_t sender_ = 0;
  sigset_t mask_before_{};
  struct sigaction pipe_before_ {};
};

// While one exists, the same signals wait: what must not be left half done is done first. On the main thread,
// before there are others.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  // Whether one waits.
  bool came() const;
  // Takes one that waits; 0: none.
  int take() const;

 private:
  sigset_t set_{};
  sigset_t before_{};
};

}  // namespace lockstep::launch
