// The background thread of one rank: runs the cycles and reduces what they find ready, while the training
// thread goes on.
//
// Why one thread does both: what is reduced, and in which order, must be the same on every rank. One thread
// that takes orders from one place keeps it so without any lock between ranks.
//
// A cycle begins a cycle time after the one before it, so that tensors gather to be fused. It begins at once
// when there is nothing to wait for: this rank has handed in everything, or wants to pause. A rank that has
// nothing to hand in keeps up with slower cycles, in which missing tensors are noticed.
//
// On a GPU a tensor that is handed in may still have to be computed, and one that was reduced may still be on
// its way: the thread has a compute queue of its own, and the device orders the two. Then neither waits for
// the other, and backward goes on beside the reductions. From begin_step() until wait() has returned, this
// thread is the only one that puts operations on the device; before and after, the training thread is.
#pragma once

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/parallel/compute_queue.h"
#include "lockstep/parallel/horovod/fused_reducer.h"
#include "lockstep/parallel/horovod/negotiator.h"
#include "lockstep/record/figures.h"

namespace lockstep::parallel::horovod {

// What the thread works with; everything outlives the engine.
struct EngineParts {
  Negotiator& negotiator;
  FusedReducer& reducer;
  comm::Communicator& control;
  comm::Communicator& data;  // ordered with `compute`
  ComputeQueue& compute;     // of this thread alone
};

struct HandedIn {
  std::size_t tensor;
  comm::Work computed = {};  // what the tensor is complete with
};

// A group of tensors that was reduced together.
struct GroupTimes {
  std::uint64_t bytes = 0;         // as they were sent
  base::TimePoint ready;           // when the last of them was handed in here
  base::TimePoint started, ended;  // on a GPU: when the device was asked to
};

class Engine {
 public:
  // Begins paused.
  Engine(const EngineParts& parts, std::size_t tensors, base::Nanoseconds cycle_time);
  // Unless it is paused, what is in flight is aborted.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // All of the training thread. A step: begin_step(), submit() of every tensor once, wait().
  void begin_step();
  void submit(std::size_t tensor, comm::Work computed = {});
  // No cycle sees some of them without the others.
  void submit_together(std::vector<HandedIn> tensors);
  // Returns when all tensors are reduced, and hold their sums with the work it returns. Throws what ended the
  // thread.
  comm::Work wait();
  // Collective: returns when no rank runs cycles any more; the next begin_step() lets them go on. Throws
  // likewise.
  void pause();

  // Of the last step; after wait().
  const std::vector<GroupTimes>& times() const { return times_; }
  // While paused, the same on every rank.
  record::ControlFigures figures() const;

 private:
  void serve();
  bool await_turn();
  base::Nanoseconds pace() const;
  void run_cycle();
  void reduce_groups(const std::vector<std::size_t>& ready);
  void order_after_gradients(const FusedGroup& group);
  std::vector<comm::Work> take_uncomputed(const FusedGroup& group);
  GroupTimes timed_reduction(const FusedGroup& group);
  void note_done(const FusedGroup& group, const GroupTimes& times, comm::Work reduced);
  void throw_if_failed() const;

  EngineParts parts_;
  const std::size_t tensors_;
  const base::Nanoseconds cycle_time_;

  mutable std::mutex mutex_;
  std::condition_variable thread_wakes_;
  std::condition_variable training_wakes_;
  std::vector<std::size_t> fresh_;  // handed in, not yet said in a cycle
  std::vector<base::TimePoint> handed_in_;
  std::vector<comm::Work> computed_;  // by tensor, until it is reduced
  comm::Work reduced_;                // with the last group
  std::size_t submitted_ = 0;         // in this step
  std::size_t done_ = 0;
  bool paused_ = true;
  bool wants_pause_ = false;
  bool stopping_ = false;
  std::exception_ptr error_;
  std::vector<GroupTimes> times_;
  record::ControlFigures figures_;
  base::TimePoint last_cycle_;
  std::thread thread_;
};

}  // namespace lockstep::parallel::horovod
