// How workers agree on the step after which they all stop or write a checkpoint.
//
// Reasons that no step count foretells (a signal, a clock) reach the ranks at different moments, and a rank
// that simply stopped would leave the others waiting in a collective. So a thread of each rank proposes the
// boundary after the step that is running; the ranks take the latest proposal, over a channel of their own. A
// rank that reaches its own proposal before the others have answered waits there.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "lockstep/base/clock.h"
#include "lockstep/comm/communicator.h"

namespace lockstep::train {

enum class Wish : std::int64_t { none = 0, checkpoint = 1, stop = 2, interrupt = 3 };

struct AgreementOptions {
  bool watch_signals = false;                   // SIGTERM and SIGINT, which must be blocked in all threads
  std::optional<base::Nanoseconds> stop_after;  // the time limit of training
  std::optional<base::Nanoseconds> checkpoint_every;
};

class Agreement {
 public:
  // `channel`: used by nobody else; null: one worker.
  Agreement(std::unique_ptr<comm::Communicator> channel, const AgreementOptions& options);
  ~Agreement();
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;

  // To be called between two steps with the number of steps that are done. What all workers do now. Must not
  // be called after the last step: nobody would answer.
  Wish at_boundary(std::int64_t steps_done);
  // As if a signal had come. From any thread.
  void propose(Wish wish);

 private:
  struct Proposal {
    std::int64_t boundary;
    std::int64_t wish;
  };

  void serve();
  std::optional<Wish> wait_for_wish();
  std::optional<Wish> due_wish(base::TimePoint now);
  void settle(Wish wish);
  Proposal make_proposal(Wish wish);
  void agree(const Proposal& mine);

  std::unique_ptr<comm::Communicator> channel_;
  const AgreementOptions options_;
  const base::TimePoint began_;
  base::TimePoint last_checkpoint_;
  bool stop_was_wished_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  bool asking_ = false;           // the other ranks, at this moment
  std::optional<Wish> proposed_;  // by propose()
  std::int64_t steps_done_ = 0;
  std::optional<Proposal> pending_;  // ours, not answered yet
  std::optional<Proposal> agreed_;
  std::exception_ptr error_;

  std::thread thread_;
};

}  // namespace lockstep::train
