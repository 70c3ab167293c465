// How workers agree on the step after which they all stop or write a checkpoint.
//
// Reasons that no step count foretells (a signal, a clock) reach one rank, or several at different moments,
// and a rank that simply stopped would leave the others waiting in a collective. So a rank that has a wish
// calls all of them together, through the run's store. A thread of each then proposes the boundary after the
// step that is running; the ranks take the latest proposal and the strongest wish, over a channel of their
// own. A rank that reaches its own proposal before the others have answered waits there. Clocks are asked on
// rank 0 alone: two of them that were apart would make everybody wait for the later one, every time.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "lockstep/base/clock.h"
#include "lockstep/comm/communicator.h"
#include "lockstep/comm/rendezvous/store.h"

namespace lockstep::train {

enum class Wish : std::int64_t { none = 0, checkpoint = 1, stop = 2, interrupt = 3 };

struct AgreementOptions {
  std::optional<base::Nanoseconds> stop_after;  // the time limit of training
  std::optional<base::Nanoseconds> checkpoint_every;
};

// Why a run is interrupted.
struct Interrupter {
  int signal_number = 0;
  std::optional<int> rank;  // that was sent the signal; nothing: the whole run was, or several ranks
};

// When the next checkpoint by the clock is due: so long after the last one was begun, and never so soon that
// checkpoints would take more than half of the time.
class CheckpointTimer {
 public:
  CheckpointTimer(base::Nanoseconds every, base::TimePoint now)
      : every_(every), interval_(every), begun_(now) {}

  bool due(base::TimePoint now) const { return now - begun_ >= interval_; }
  void begin(base::TimePoint now) { begun_ = now; }
  void end(base::TimePoint now) { interval_ = std::max(every_, 2 * (now - begun_)); }
  base::Nanoseconds interval() const { return interval_; }

 private:
  base::Nanoseconds every_, interval_;
  base::TimePoint begun_;
};

class Agreement {
 public:
  // `channel`: used by nobody else; null: one worker, who asks nobody.
  Agreement(std::unique_ptr<comm::Communicator> channel, comm::Store& store, const AgreementOptions& options);
  ~Agreement();
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;

  // To be called between two steps with the number of steps that are done. What all workers do now. Must not
  // be called after the last step: nobody would answer.
  Wish at_boundary(std::int64_t steps_done);
  // A wish of this rank. From any thread.
  void propose(Wish wish) { propose(wish, {}); }
  void propose(Wish wish, const Interrupter& why);
  // Of the last wish that at_boundary() returned.
  const Interrupter& interrupter() const { return interrupter_; }

  // The checkpoint that at_boundary() asked for is written. What comes between two from now on, where writing
  // one takes so long that it is more than was asked for; said once.
  std::optional<base::Nanoseconds> checkpoint_written();

 private:
  // What a rank wishes, in numbers of which the largest counts: where ranks of equal wishes differ, the
  // highest and the lowest of them are known.
  struct Proposal {
    std::int64_t boundary = 0;
    std::int64_t of_highest = 0;
    std::int64_t of_lowest = 0;
  };
  struct Wanted {
    Wish wish = Wish::none;
    Interrupter why;
  };

  void serve();
  bool await_call();
  void want_what_is_due(base::TimePoint now);
  void call_the_others(std::unique_lock<std::mutex>& lock);
  Proposal make_proposal();
  void agree(const Proposal& mine);
  Wish act_on(const Wanted& wanted);
  std::string round_key() const;

  std::unique_ptr<comm::Communicator> channel_;
  comm::Store& store_;
  const AgreementOptions options_;
  const base::TimePoint began_;
  std::optional<CheckpointTimer> checkpoints_;
  bool stop_was_wished_ = false;
  bool stretch_was_said_ = false;
  Interrupter interrupter_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  bool asking_ = false;  // the other ranks, at this moment
  std::optional<Wanted> wanted_;
  std::int64_t steps_done_ = 0;
  std::int64_t round_ = 0;           // of agreeing
  std::int64_t called_ = -1;         // the last round that this rank called
  std::optional<Proposal> pending_;  // ours, not acted on yet
  std::optional<Proposal> agreed_;
  std::exception_ptr error_;

  std::thread thread_;
};

}  // namespace lockstep::train
