#include "lockstep/train/agreement.h"

#include <fmt/format.h>

#include <utility>

#include "lockstep/comm/operation.h"
#include "lockstep/comm/rendezvous/verdict.h"

namespace lockstep::train {
namespace {

constexpr std::string_view kCall = "call", kEnd = "end";
// A call may be long in coming: the store is asked again and again.
constexpr base::Nanoseconds kCallPatience = std::chrono::minutes(1);

// A wish with its signal, and a number that says which rank it is from: the larger one is the stronger.
constexpr int kSignalShift = 32, kWishShift = 48;
constexpr std::int64_t kRankMask = (std::int64_t{1} << kSignalShift) - 1;

std::int64_t encode(Wish wish, int signal_number, std::int64_t rank) {
  return (static_cast<std::int64_t>(wish) << kWishShift) |
         (static_cast<std::int64_t>(signal_number) << kSignalShift) | rank;
}

}  // namespace

Agreement::Agreement(std::unique_ptr<comm::Communicator> channel, comm::Store& store,
                     const AgreementOptions& options)
    : channel_(std::move(channel)), store_(store), options_(options), began_(base::now()) {
  if (options.checkpoint_every) checkpoints_.emplace(*options.checkpoint_every, began_);
  if (channel_ != nullptr) thread_ = std::thread([this] { serve(); });
}

Agreement::~Agreement() {
  if (channel_ == nullptr) return;
  bool asking = false;
  std::string key;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    asking = asking_;
    key = round_key();
  }
  changed_.notify_all();
  // This rank has proposed something that training's end has made pointless. Nobody else is disturbed: a rank
  // whose MPI was aborted does not finalise, and mpirun calls that a failure.
  if (asking) channel_->abort("training has ended");
  try {
    store_.set(key, std::string(kEnd));  // wakes our thread; all others have come to the same end
  } catch (const base::CommError&) {     // the run has ended, and our thread knows
  }
  thread_.join();
}

void Agreement::propose(Wish wish, const Interrupter& why) {
  const std::lock_guard lock(mutex_);
  if (!wanted_ || wish >= wanted_->wish) wanted_ = Wanted{wish, why};
}

Wish Agreement::at_boundary(std::int64_t steps_done) {
  std::unique_lock lock(mutex_);
  steps_done_ = steps_done;
  want_what_is_due(base::now());
  if (channel_ == nullptr) return act_on(std::exchange(wanted_, std::nullopt).value_or(Wanted{}));
  call_the_others(lock);
  if (pending_ && steps_done >= pending_->boundary)
    changed_.wait(lock, [this] { return agreed_ || error_ || ending_; });
  if (error_) std::rethrow_exception(error_);
  if (!agreed_ || agreed_->boundary != steps_done) return Wish::none;
  Wanted wanted;
  wanted.wish = static_cast<Wish>(agreed_->of_highest >> kWishShift);
  wanted.why.signal_number =
      static_cast<int>((agreed_->of_highest & ((std::int64_t{1} << kWishShift) - 1)) >> kSignalShift);
  const std::int64_t highest = (agreed_->of_highest & kRankMask) - 1;
  const std::int64_t lowest = kRankMask - (agreed_->of_lowest & kRankMask);
  if (highest >= 0 && highest == lowest) wanted.why.rank = static_cast<int>(highest);
  agreed_.reset();
  pending_.reset();
  ++round_;
  changed_.notify_all();
  return act_on(wanted);
}

Wish Agreement::act_on(const Wanted& wanted) {
  interrupter_ = wanted.why;
  if (wanted.wish == Wish::checkpoint && checkpoints_) checkpoints_->begin(base::now());
  return wanted.wish;
}

std::optional<base::Nanoseconds> Agreement::checkpoint_written() {
  if (!checkpoints_) return std::nullopt;
  checkpoints_->end(base::now());
  const bool stretched = checkpoints_->interval() > *options_.checkpoint_every;
  if (!stretched || std::exchange(stretch_was_said_, true)) return std::nullopt;
  return checkpoints_->interval();
}

void Agreement::want_what_is_due(base::TimePoint now) {
  if (pending_ || wanted_ || (channel_ != nullptr && channel_->group().rank != 0)) return;
  if (options_.stop_after && !stop_was_wished_ && now - began_ >= *options_.stop_after) {
    stop_was_wished_ = true;
    wanted_ = Wanted{Wish::stop, {}};
  } else if (checkpoints_ && checkpoints_->due(now)) {
    wanted_ = Wanted{Wish::checkpoint, {}};
  }
}

std::string Agreement::round_key() const {
  return fmt::format("agreement/{}", round_);
}

void Agreement::call_the_others(std::unique_lock<std::mutex>& lock) {
  if (!wanted_ || pending_ || called_ == round_) return;
  called_ = round_;
  const std::string key = round_key();
  lock.unlock();
  store_.set(key, std::string(kCall));
  lock.lock();
}

void Agreement::serve() {
  try {
    while (await_call()) agree(make_proposal());
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!ending_) error_ = std::current_exception();
  }
  changed_.notify_all();
}

// Whether somebody called; else training has ended.
bool Agreement::await_call() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ending_ || !pending_; });
    if (ending_) return false;
    const std::string key = round_key();
    lock.unlock();
    try {
      return store_.get(key, base::Deadline(kCallPatience)) == kCall;
    } catch (const comm::RunEnded&) {
      throw;
    } catch (const base::CommError& error) {
      if (error.kind() != base::CommError::Kind::timed_out) throw;
    }
    lock.lock();
    changed_.wait_for(lock, std::chrono::milliseconds(100), [this] { return ending_; });
  }
}

// The boundary after the step that runs now: the training thread cannot have passed it unseen.
Agreement::Proposal Agreement::make_proposal() {
  const std::lock_guard lock(mutex_);
  const Wanted mine = std::exchange(wanted_, std::nullopt).value_or(Wanted{});
  const std::int64_t rank = mine.why.rank.value_or(-1);
  pending_ = Proposal{steps_done_ + 1, encode(mine.wish, mine.why.signal_number, rank + 1),
                      encode(mine.wish, mine.why.signal_number, rank < 0 ? 0 : kRankMask - rank)};
  return *pending_;
}

void Agreement::agree(const Proposal& mine) {
  Proposal latest = mine;
  {
    const std::lock_guard lock(mutex_);
    if (ending_) return;
    asking_ = true;
  }
  channel_->run(comm::all_reduce(comm::host_buffer(&latest, 3, comm::ElementType::i64), comm::ReduceOp::max,
                                 comm::Purpose::control));
  const std::lock_guard lock(mutex_);
  asking_ = false;
  agreed_ = latest;
  changed_.notify_all();
}

}  // namespace lockstep::train
