#include "lockstep/train/agreement.h"

#include <csignal>
#include <ctime>

#include "lockstep/comm/operation.h"

namespace lockstep::train {
namespace {

constexpr base::Nanoseconds kPoll = std::chrono::milliseconds(20);

// Whether SIGTERM or SIGINT came within `longest`.
bool signal_came(base::Nanoseconds longest) {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGTERM);
  sigaddset(&watched, SIGINT);
  const timespec limit = {0, static_cast<long>(longest.count())};
  return ::sigtimedwait(&watched, nullptr, &limit) > 0;
}

}  // namespace

Agreement::Agreement(std::unique_ptr<comm::Communicator> channel, const AgreementOptions& options)
    : channel_(std::move(channel)), options_(options), began_(base::now()), last_checkpoint_(began_) {
  thread_ = std::thread([this] { serve(); });
}

Agreement::~Agreement() {
  bool asking = false;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    asking = asking_;
  }
  changed_.notify_all();
  // This rank has proposed something that training's end has made pointless. Nobody else is disturbed: a rank
  // whose MPI was aborted does not finalise, and mpirun calls that a failure.
  if (asking && channel_ != nullptr) channel_->abort("training has ended");
  thread_.join();
}

void Agreement::propose(Wish wish) {
  {
    const std::lock_guard lock(mutex_);
    proposed_ = wish;
  }
  changed_.notify_all();
}

Wish Agreement::at_boundary(std::int64_t steps_done) {
  std::unique_lock lock(mutex_);
  steps_done_ = steps_done;
  if (pending_ && steps_done >= pending_->boundary)
    changed_.wait(lock, [this] { return agreed_ || error_ || ending_; });
  if (error_) std::rethrow_exception(error_);
  if (!agreed_ || agreed_->boundary != steps_done) return Wish::none;
  const auto wish = static_cast<Wish>(agreed_->wish);
  agreed_.reset();
  pending_.reset();
  return wish;
}

void Agreement::serve() {
  while (const std::optional<Wish> wish = wait_for_wish()) settle(*wish);
}

std::optional<Wish> Agreement::wait_for_wish() {
  for (;;) {
    const bool interrupted = options_.watch_signals && signal_came(kPoll);
    std::unique_lock lock(mutex_);
    if (interrupted) proposed_ = Wish::interrupt;
    if (!options_.watch_signals) changed_.wait_for(lock, kPoll, [this] { return ending_ || proposed_; });
    if (ending_) return std::nullopt;
    if (pending_) continue;  // one at a time
    if (proposed_) return *std::exchange(proposed_, std::nullopt);
    if (const std::optional<Wish> due = due_wish(base::now())) return due;
  }
}

std::optional<Wish> Agreement::due_wish(base::TimePoint now) {
  if (options_.stop_after && !stop_was_wished_ && now - began_ >= *options_.stop_after) {
    stop_was_wished_ = true;
    return Wish::stop;
  }
  if (options_.checkpoint_every && now - last_checkpoint_ >= *options_.checkpoint_every) {
    last_checkpoint_ = now;
    return Wish::checkpoint;
  }
  return std::nullopt;
}

void Agreement::settle(Wish wish) {
  const Proposal mine = make_proposal(wish);
  try {
    agree(mine);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!ending_) error_ = std::current_exception();
  }
  changed_.notify_all();
}

// The boundary after the step that runs now: the training thread cannot have passed it unseen.
Agreement::Proposal Agreement::make_proposal(Wish wish) {
  const std::lock_guard lock(mutex_);
  pending_ = Proposal{steps_done_ + 1, static_cast<std::int64_t>(wish)};
  return *pending_;
}

void Agreement::agree(const Proposal& mine) {
  Proposal latest = mine;
  {
    const std::lock_guard lock(mutex_);
    if (ending_) return;
    asking_ = true;
  }
  if (channel_ != nullptr)
    channel_->run(comm::all_reduce(comm::host_buffer(&latest, 2, comm::ElementType::i64), comm::ReduceOp::max,
                                   comm::Purpose::control));
  const std::lock_guard lock(mutex_);
  asking_ = false;
  agreed_ = latest;
}

}  // namespace lockstep::train
