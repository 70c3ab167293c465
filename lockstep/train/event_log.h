// A rank's events, appended to its file as they come. The launcher, the progress line and the store read them
// there. A thread turns them into text, so that no step waits for that.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/base/unique_fd.h"
#include "lockstep/record/event.h"

namespace lockstep::train {

// Seconds since the run began, on a clock that all ranks share: rank 0's start by the system's time of day,
// followed by each rank's steady clock.
class RunClock {
 public:
  RunClock() : RunClock(system_seconds()) {}
  // `began`: system_seconds() of rank 0 when the run began.
  explicit RunClock(double began) : offset_(system_seconds() - began), zero_(base::now()) {}
  double seconds() const { return seconds_at(base::now()); }
  double seconds_at(base::TimePoint moment) const { return offset_ + base::to_seconds(moment - zero_); }
  static double system_seconds();

 private:
  double offset_;
  base::TimePoint zero_;
};

class EventLog {
 public:
  // Appends to `file`. Throws StoreError when it cannot be opened.
  EventLog(const std::filesystem::path& file, int rank, const RunClock& clock);
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  // From any thread. Reaches the file within about a tenth of a second. Throws StoreError when the disk did
  // not take an earlier one.
  void write(record::EventBody body);
  // Returns when everything written so far is in the file. Throws StoreError likewise.
  void flush();
  const RunClock& clock() const { return clock_; }
  int rank() const { return rank_; }

 private:
  void serve();
  bool append(const std::vector<record::Event>& events);
  void throw_if_failed() const;

  std::filesystem::path path_;
  int rank_;
  RunClock clock_;
  std::ofstream stream_;  // the thread's
  base::UniqueFd held_;   // says that somebody still writes there

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<record::Event> waiting_;
  bool hurry_ = false;  // somebody waits in flush()
  bool busy_ = false;   // the thread is writing what it took
  bool ending_ = false;
  std::string fault_;  // what the disk said
  std::thread thread_;
};

}  // namespace lockstep::train
