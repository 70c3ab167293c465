// The threads of dp's replicas: one each, with its own cores, threads, compute queue and memory account, kept
// from step to step. The training thread gives all of them the same work and waits.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "lockstep/parallel/dp/replica_source.h"

namespace lockstep::parallel {

class ReplicaCrew {
 public:
  // `end_waits` ends what else a replica may wait in for another; from any thread, and must not throw. The
  // source outlives the crew.
  ReplicaCrew(const ReplicaSource& source, std::function<void()> end_waits);
  ~ReplicaCrew();
  ReplicaCrew(const ReplicaCrew&) = delete;
  ReplicaCrew& operator=(const ReplicaCrew&) = delete;

  // Runs work(replica) on every replica's thread and returns when all are done. When one throws, the
  // communicators of all are aborted, so that none waits for it longer than its own computing takes; then its
  // error is thrown here, with the replica's number in its text. After that the crew can only be destroyed.
  void run(const std::function<void(int replica)>& work);

 private:
  struct Failure {
    int replica;
    std::exception_ptr error;
  };
  void serve(int replica);
  void take_place(int replica) const;
  void attempt(int replica, const std::function<void(int)>& work);
  void note_failure(int replica, const std::exception_ptr& error);
  void abort_all() noexcept;
  const Failure& cause() const;

  const ReplicaSource& source_;
  const std::function<void()> end_waits_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void(int)>* work_ = nullptr;  // of the round that runs
  std::uint64_t round_ = 0;
  std::size_t unfinished_ = 0;
  bool ending_ = false;
  std::vector<Failure> failures_;  // in the order of time
  std::vector<std::thread> threads_;
};

}  // namespace lockstep::parallel
