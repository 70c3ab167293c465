#include "lockstep/parallel/horovod/engine.h"

#include <algorithm>
#include <utility>

namespace lockstep::parallel::horovod {
namespace {

// How often a rank that has nothing to hand in takes part.
constexpr base::Nanoseconds kIdlePace = std::chrono::milliseconds(20);

}  // namespace

Engine::Engine(const EngineParts& parts, std::size_t tensors, base::Nanoseconds cycle_time)
    : parts_(parts),
      tensors_(tensors),
      cycle_time_(cycle_time),
      handed_in_(tensors),
      computed_(tensors),
      figures_(parts.negotiator.figures()),
      thread_([this] { serve(); }) {}

Engine::~Engine() {
  bool in_flight = false;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    in_flight = !paused_;
  }
  thread_wakes_.notify_all();
  if (in_flight) {
    parts_.control.abort("training has ended");
    parts_.data.abort("training has ended");
  }
  thread_.join();
}

void Engine::begin_step() {
  {
    const std::lock_guard lock(mutex_);
    submitted_ = 0;
    done_ = 0;
    paused_ = false;
    wants_pause_ = false;
    times_.clear();
  }
  thread_wakes_.notify_one();
}

void Engine::submit(std::size_t tensor, comm::Work computed) {
  std::vector<HandedIn> one;
  one.push_back({tensor, std::move(computed)});
  submit_together(std::move(one));
}

void Engine::submit_together(std::vector<HandedIn> tensors) {
  bool hurry = false;
  {
    const std::lock_guard lock(mutex_);
    hurry = submitted_ == done_ || submitted_ + tensors.size() == tensors_;
    for (HandedIn& one : tensors) {
      handed_in_[one.tensor] = base::now();
      computed_[one.tensor] = std::move(one.computed);
      fresh_.push_back(one.tensor);
    }
    submitted_ += tensors.size();
  }
  if (hurry) thread_wakes_.notify_one();
}

comm::Work Engine::wait() {
  std::unique_lock lock(mutex_);
  training_wakes_.wait(lock, [this] { return done_ == tensors_ || error_; });
  throw_if_failed();
  return reduced_;
}

void Engine::pause() {
  std::unique_lock lock(mutex_);
  wants_pause_ = true;
  thread_wakes_.notify_one();
  training_wakes_.wait(lock, [this] { return paused_ || error_; });
  throw_if_failed();
}

record::ControlFigures Engine::figures() const {
  const std::lock_guard lock(mutex_);
  return figures_;
}

void Engine::throw_if_failed() const {
  if (error_) std::rethrow_exception(error_);
}

void Engine::serve() {
  try {
    parts_.compute.use_here();
    while (await_turn()) run_cycle();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    error_ = std::current_exception();
  }
  training_wakes_.notify_all();
}

// False: it is time to end.
bool Engine::await_turn() {
  std::unique_lock lock(mutex_);
  thread_wakes_.wait(lock, [this] { return stopping_ || !paused_; });
  while (!stopping_) {
    const base::TimePoint turn = last_cycle_ + pace();
    if (base::now() >= turn) return true;
    thread_wakes_.wait_until(lock, turn);
  }
  return false;
}

base::Nanoseconds Engine::pace() const {
  const bool outstanding = submitted_ > done_;
  if (wants_pause_ || (outstanding && submitted_ == tensors_)) return base::Nanoseconds(0);
  return outstanding ? cycle_time_ : std::max(cycle_time_, kIdlePace);
}

void Engine::run_cycle() {
  std::vector<std::size_t> fresh;
  bool wants_pause = false;
  {
    const std::lock_guard lock(mutex_);
    last_cycle_ = base::now();
    fresh.swap(fresh_);
    wants_pause = wants_pause_;
  }
  const CycleOutcome outcome = parts_.negotiator.cycle(fresh, wants_pause);
  reduce_groups(outcome.ready);
  const std::lock_guard lock(mutex_);
  figures_ = parts_.negotiator.figures();
  if (!outcome.pause) return;
  paused_ = true;
  training_wakes_.notify_all();
}

void Engine::reduce_groups(const std::vector<std::size_t>& ready) {
  for (const FusedGroup& group : parts_.reducer.plan(ready)) {
    order_after_gradients(group);
    const GroupTimes times = timed_reduction(group);
    note_done(group, times, parts_.compute.mark());
  }
}

void Engine::order_after_gradients(const FusedGroup& group) {
  for (const comm::Work& computed : take_uncomputed(group)) parts_.compute.wait_for(computed);
}

// On cores there is none.
std::vector<comm::Work> Engine::take_uncomputed(const FusedGroup& group) {
  std::vector<comm::Work> works;
  const std::lock_guard lock(mutex_);
  for (const std::size_t tensor : group) {
    if (computed_[tensor].pending() != nullptr) works.push_back(std::exchange(computed_[tensor], {}));
  }
  return works;
}

GroupTimes Engine::timed_reduction(const FusedGroup& group) {
  GroupTimes times;
  times.bytes = parts_.reducer.sent_bytes(group);
  times.started = base::now();
  parts_.reducer.reduce(group);
  times.ended = base::now();
  return times;
}

void Engine::note_done(const FusedGroup& group, const GroupTimes& times, comm::Work reduced) {
  const std::lock_guard lock(mutex_);
  reduced_ = std::move(reduced);
  times_.push_back(times);
  for (const std::size_t tensor : group)
    times_.back().ready = std::max(times_.back().ready, handed_in_[tensor]);
  done_ += group.size();
  if (done_ == tensors_) training_wakes_.notify_all();
}

}  // namespace lockstep::parallel::horovod
