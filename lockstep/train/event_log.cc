#include "lockstep/train/event_log.h"

#include <fmt/format.h>

#include "lockstep/base/durable.h"
#include "lockstep/base/error.h"

namespace lockstep::train {

double RunClock::system_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

EventLog::EventLog(const std::filesystem::path& file, int rank, const RunClock& clock)
    : path_(file), rank_(rank), clock_(clock), stream_(file, std::ios::app) {
  if (!stream_)
    throw base::StoreError(
        fmt::format("cannot append to {}: {}. Choose another --store.", file.string(), base::errno_text()));
  held_ = base::hold_file(file);
  thread_ = std::thread([this] { serve(); });
}

EventLog::~EventLog() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void EventLog::write(record::EventBody body) {
  const double time = clock_.seconds();
  const std::lock_guard lock(mutex_);
  throw_if_failed();
  waiting_.push_back({rank_, time, std::move(body)});
}

void EventLog::flush() {
  std::unique_lock lock(mutex_);
  hurry_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return (waiting_.empty() && !busy_) || !fault_.empty(); });
  throw_if_failed();
}

void EventLog::throw_if_failed() const {
  if (fault_.empty()) return;
  throw base::StoreError(fmt::format(
      "cannot write events to {}: {}. Free some space, or choose another --store.", path_.string(), fault_));
}

void EventLog::serve() {
  constexpr base::Nanoseconds kLongest = std::chrono::milliseconds(100);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait_for(lock, kLongest, [this] { return hurry_ || ending_; });
    hurry_ = false;
    std::vector<record::Event> taken;
    taken.swap(waiting_);
    busy_ = true;
    lock.unlock();
    const bool well = taken.empty() || append(taken);
    const std::string fault = well ? "" : base::errno_text();
    lock.lock();
    busy_ = false;
    if (fault_.empty()) fault_ = fault;
    changed_.notify_all();
    if (ending_ && waiting_.empty()) return;
  }
}

bool EventLog::append(const std::vector<record::Event>& events) {
  for (const record::Event& event : events) stream_ << record::to_line(event) << '\n';
  stream_.flush();
  return stream_.good();
}

}  // namespace lockstep::train
