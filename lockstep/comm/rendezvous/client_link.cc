#include "lockstep/comm/rendezvous/client_link.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "lockstep/base/units.h"

namespace lockstep::comm {
namespace {

using Kind = base::CommError::Kind;

// How often the control thread looks at the clock: often enough for deadlines of seconds, too rarely to
// disturb what is measured.
constexpr int kTickMilliseconds = 100;
// Whoever did not look for so long was stopped itself, and cannot say who was silent.
constexpr base::Nanoseconds kLongAway = std::chrono::seconds(1);
constexpr base::Nanoseconds kSendPatience = std::chrono::seconds(5);
constexpr base::Nanoseconds kGoodbyePatience = std::chrono::seconds(5);

}  // namespace

ClientLink::ClientLink(Joined joined, const RunClientOptions& options, const OperationBoards& boards)
    : options_(options),
      boards_(boards),
      met_at_(std::move(joined.met_at)),
      fd_(std::move(joined.fd)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      reader_(std::move(joined.reader)) {
  if (!wake_) throw base::CommError(Kind::failed, "cannot watch the run: " + base::errno_text());
  thread_ = std::thread([this] { control(); });
}

ClientLink::~ClientLink() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    leaving_ = true;
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(wake_.get(), &one, sizeof one);
  thread_.join();
}

void ClientLink::wait_for_welcome(base::Deadline deadline, const std::function<void()>& still_wanted) {
  constexpr base::Nanoseconds kBetweenQuestions = std::chrono::milliseconds(100);
  std::unique_lock lock(mutex_);
  bool heard = false;
  while (!heard && !deadline.passed()) {
    heard = changed_.wait_for(lock, std::min(kBetweenQuestions, deadline.left()),
                              [this] { return welcomed_ || verdict_; });
    if (!heard) still_wanted();
  }
  if (verdict_) throw RunEnded(*verdict_);
  if (!heard)
    throw base::CommError(Kind::timed_out,
                          fmt::format("rank {} waited in vain for the other ranks at {}: the "
                                      "run's server does not answer (stopped, or its host is "
                                      "down)",
                                      options_.rank, to_text(*met_at_.server)));
}

std::string ClientLink::request(MessageType type, std::string body, base::Deadline deadline,
                                const std::string& what) {
  std::unique_lock lock(mutex_);
  if (verdict_) throw RunEnded(*verdict_);
  const std::uint32_t id = next_request_++;
  replies_[id];
  lock.unlock();
  // A broken connection is the control thread's to find; it ends this wait.
  send({type, id, std::move(body)});
  lock.lock();
  changed_.wait_until(lock, deadline.at(), [&] { return replies_[id] || verdict_ || server_gone_; });
  const std::optional<std::string> reply = replies_[id];
  replies_.erase(id);
  if (reply) return *reply;
  if (verdict_) throw RunEnded(*verdict_);
  throw base::CommError(
      Kind::timed_out,
      fmt::format("rank {}: the run's server at {} does not answer while {} (stopped, or its "
                  "host is down)",
                  options_.rank, to_text(*met_at_.server), what));
}

void ClientLink::on_abort(std::function<void(const std::string&)> action) {
  std::unique_lock lock(mutex_);
  if (!aborted_because_) {
    abort_action_ = std::move(action);
    return;
  }
  const std::string reason = *aborted_because_;
  lock.unlock();
  action(reason);
}

Verdict ClientLink::report(const FailureReport& report) {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
    if (verdict_) return *verdict_;
  }
  send({MessageType::failure, 0, encode(report)});
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, base::Deadline(options_.report_timeout).at(),
                      [this] { return verdict_ || server_gone_; });
  if (verdict_) return *verdict_;
  return {options_.rank, report.kind, report.exit_code, report.message};
}

void ClientLink::goodbye() {
  std::unique_lock lock(mutex_);
  leaving_ = true;
  if (verdict_) return;
  lock.unlock();
  try {
    request(MessageType::goodbye, {}, base::Deadline(kGoodbyePatience), "saying goodbye");
  } catch (const base::CommError&) {
    // The server is gone or the run has failed: verdict() says so, and there is nobody left to take leave of.
  }
}

void ClientLink::wait_until_closed(base::Deadline deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline.at(), [this] { return server_gone_; });
}

std::optional<Verdict> ClientLink::verdict() const {
  const std::lock_guard lock(mutex_);
  return verdict_;
}

bool ClientLink::send(const Frame& frame) {
  const std::string bytes = encode(frame);
  const std::lock_guard lock(send_mutex_);
  return write_all(fd_.get(), bytes, base::Deadline(kSendPatience));
}

void ClientLink::control() {
  for (;;) {
    read_frames();
    watch_operations();
    carry_out();
    std::array<pollfd, 2> wanted{{{wake_.get(), POLLIN, 0}, {fd_.get(), POLLIN, 0}}};
    ::poll(wanted.data(), connected_ ? 2 : 1, kTickMilliseconds);
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
  }
}

void ClientLink::read_frames() {
  if (!connected_) return;
  std::string bytes;
  const ReadResult result = read_some(fd_.get(), bytes, kMaxFrameBytes);
  const base::TimePoint now = base::now();
  if (!bytes.empty() || now - looked_ > kLongAway) heard_ = now;
  looked_ = now;
  reader_.feed(bytes);
  try {
    while (const auto frame = reader_.next()) handle(*frame);
  } catch (const ProtocolError&) {
    return server_is_gone();
  }
  if (result == ReadResult::closed) server_is_gone();
}

void ClientLink::handle(const Frame& frame) {
  if (frame.type == MessageType::where_are_you) {
    send({MessageType::position, 0, encode(boards_.status())});
  } else if (frame.type == MessageType::verdict) {
    run_has_ended(decode_verdict(frame.body), options_.verdict_grace);
  } else if (frame.type == MessageType::welcome) {
    std::vector<std::string> hosts = decode_welcome(frame.body);
    const std::lock_guard lock(mutex_);
    hosts_ = std::move(hosts);
    welcomed_ = true;
    changed_.notify_all();
  } else if (frame.type == MessageType::reply) {
    const std::lock_guard lock(mutex_);
    const auto waiting = replies_.find(frame.request);
    if (waiting != replies_.end()) waiting->second = frame.body;
    changed_.notify_all();
  }
}

void ClientLink::run_has_ended(const Verdict& verdict, base::Nanoseconds grace) {
  std::function<void(const std::string&)> action;
  {
    const std::lock_guard lock(mutex_);
    if (!verdict_) verdict_ = verdict;
    if (!aborted_because_) aborted_because_ = verdict.message;
    action.swap(abort_action_);
    changed_.notify_all();
  }
  if (action) action(verdict.message);
  if (!sentence_ || sentence_->only_while_overdue) sentence_ = {base::now() + grace, verdict, false};
}

void ClientLink::server_is_gone() {
  connected_ = false;
  const Verdict verdict = verdict_without_server();
  {
    const std::lock_guard lock(mutex_);
    server_gone_ = true;
    changed_.notify_all();
    if (leaving_ || verdict_) return;
    verdict_ = verdict;  // at once, for whoever waits for the server's answer
  }
  run_has_ended(verdict, options_.orphan_grace);
}

Verdict ClientLink::verdict_without_server() const {
  const std::string server = to_text(*met_at_.server);
  const base::Nanoseconds silent = base::now() - heard_;
  if (options_.silence_timeout > base::Nanoseconds(0) && silent >= options_.silence_timeout)
    return {
        0, Kind::timed_out, base::ExitCode::timed_out,
        fmt::format("rank 0 does not answer (stopped): the run's server at {} said nothing to rank {} for "
                    "{}, and was ended then",
                    server, options_.rank, base::format_duration(silent))};
  return {-1, Kind::failed, base::ExitCode::run_failed,
          fmt::format("rank {} lost the run's server at {}: the launcher or rank 0 has ended without a "
                      "verdict (killed, or its host went down)",
                      options_.rank, server)};
}

// An operation that has not ended by itself well after its deadline sits in a library that cannot be
// interrupted: say so for the main thread, and if aborting does not free it, leave without it.
void ClientLink::watch_operations() {
  if (reported_overdue_ || sentence_ || main_is_leaving()) return;
  const auto overdue = boards_.overdue();
  if (!overdue || *overdue < options_.overdue_grace) return;
  reported_overdue_ = true;
  const OperationStatus position = boards_.status();
  const Verdict own{
      options_.rank, Kind::timed_out, base::ExitCode::timed_out,
      fmt::format("rank {}: {} did not end by its timeout", options_.rank, operation_text(position))};
  send({MessageType::failure, 0, encode(FailureReport{own.kind, own.exit_code, own.message, position})});
  std::function<void(const std::string&)> action;
  {
    const std::lock_guard lock(mutex_);
    aborted_because_ = own.message;
    action.swap(abort_action_);
  }
  if (action) action(own.message);
  sentence_ = {base::now() + options_.overdue_grace, own, true};
}

void ClientLink::carry_out() {
  if (!sentence_ || sentence_->at > base::now() || main_is_leaving()) return;
  if (sentence_->only_while_overdue && !boards_.overdue()) return sentence_.reset();
  if (options_.last_words) options_.last_words(verdict().value_or(sentence_->verdict));
  ::_exit(static_cast<int>(sentence_->verdict.exit_code));
}

bool ClientLink::main_is_leaving() const {
  const std::lock_guard lock(mutex_);
  return leaving_;
}

}  // namespace lockstep::comm
