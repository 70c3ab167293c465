#include "lockstep/train/event_log.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"

namespace lockstep::train {

double RunClock::system_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

EventLog::EventLog(const std::filesystem::path& file, int rank, const RunClock& clock)
    : path_(file), rank_(rank), clock_(clock), stream_(file, std::ios::app), flushed_(base::now()) {
  if (!stream_)
    throw base::StoreError(
        fmt::format("cannot append to {}: {}. Choose another --store.", file.string(), base::errno_text()));
}

EventLog::~EventLog() {
  stream_ << waiting_;
}

void EventLog::write(record::EventBody body) {
  constexpr base::Nanoseconds kLongest = std::chrono::milliseconds(100);
  const std::string line = record::to_line({rank_, clock_.seconds(), std::move(body)});
  const std::lock_guard lock(mutex_);
  waiting_ += line;
  waiting_ += '\n';
  if (base::now() - flushed_ >= kLongest) flush_locked();
}

void EventLog::flush() {
  const std::lock_guard lock(mutex_);
  flush_locked();
}

void EventLog::flush_locked() {
  stream_ << waiting_ << std::flush;
  waiting_.clear();
  flushed_ = base::now();
  if (!stream_)
    throw base::StoreError(
        fmt::format("cannot write events to {}: {}. Free some space, or choose another --store.",
                    path_.string(), base::errno_text()));
}

}  // namespace lockstep::train
