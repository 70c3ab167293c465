// SIGTERM and SIGINT to a rank: the wish to interrupt the run, whatever the rank is doing.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "lockstep/base/clock.h"
#include "lockstep/base/unique_fd.h"
#include "lockstep/comm/rendezvous/identity.h"
#include "lockstep/train/agreement.h"

namespace lockstep::train {

// "interrupted", "rank 2 was interrupted by SIGTERM": the beginning of a sentence.
std::string describe(const Interrupter& why);

// A thread waits for the signals, which all threads that are made later hold back: the others may sit in a
// collective. One at a time, made before there are other threads.
class Interruptions {
 public:
  using Action = std::function<void(const Interrupter&)>;

  // `end_at_once`: what a signal does as long as nobody is asked; does not return.
  Interruptions(const comm::Identity& identity, Action end_at_once);
  ~Interruptions();
  Interruptions(const Interruptions&) = delete;
  Interruptions& operator=(const Interruptions&) = delete;

  // While one exists, something else ends this rank at once. Afterwards signals are passed over: what remains
  // is the end.
  class Instead {
   public:
    Instead(Interruptions& interruptions, Action end_at_once);
    ~Instead() { interruptions_.pass_over(); }
    Instead(const Instead&) = delete;
    Instead& operator=(const Instead&) = delete;

   private:
    Interruptions& interruptions_;
  };

  // While one exists, the first signal is handed to `action`; another one after a moment still ends this rank
  // at once. Afterwards they are passed over too.
  class Asked {
   public:
    Asked(Interruptions& interruptions, Action action);
    ~Asked() { interruptions_.pass_over(); }
    Asked(const Asked&) = delete;
    Asked& operator=(const Asked&) = delete;

   private:
    Interruptions& interruptions_;
  };

 private:
  void serve();
  void received(const Interrupter& why);
  void pass_over();

  const comm::Identity identity_;
  const long launcher_;  // that mpirun stands between us and; -1: none does
  base::UniqueFd signals_, stop_;
  std::mutex mutex_;
  Action end_at_once_;
  Action ask_;
  bool over_ = false;
  std::optional<base::TimePoint> asked_at_;
  std::thread thread_;
};

}  // namespace lockstep::train
