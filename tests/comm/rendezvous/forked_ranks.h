// Ranks as processes, for tests: forked before any thread runs, reaped and ended whatever the test does.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"

namespace lockstep::comm::testing {

class ForkedRanks {
 public:
  // Forks `count` processes; each exits with what `body(rank)` returns, or with 99 when it throws.
  ForkedRanks(int count, const std::function<int(int)>& body);
  // Ends and reaps those that are left.
  ~ForkedRanks();
  ForkedRanks(const ForkedRanks&) = delete;
  ForkedRanks& operator=(const ForkedRanks&) = delete;

  void signal(int rank, int number) const;
  // The exit code, 128 + N after signal N, or nothing when it still runs at the deadline.
  std::optional<int> wait(int rank, base::Nanoseconds patience = std::chrono::seconds(20));
  // What the rank wrote to standard error; for a rank that was waited for.
  std::string errors_of(int rank) const;

 private:
  struct Child {
    pid_t pid;
    int errors;  // an unlinked file
    std::optional<int> exit_code;
  };
  std::vector<Child> children_;
};

// A counter that forked processes share with the test.
class SharedCounter {
 public:
  SharedCounter();
  ~SharedCounter();
  SharedCounter(const SharedCounter&) = delete;
  SharedCounter& operator=(const SharedCounter&) = delete;
  void add_one() { value_->fetch_add(1); }
  int value() const { return value_->load(); }

 private:
  std::atomic<int>* value_;
};

// Waits until `condition` holds; false at the deadline.
bool eventually(const std::function<bool()>& condition,
                base::Nanoseconds patience = std::chrono::seconds(20));

// A directory of the test's own, removed at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace lockstep::comm::testing
