// The host's queue: one communication thread, started when something is first put on it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "lockstep/comm/queue.h"

namespace lockstep::comm {

class ThreadQueue : public Queue {
 public:
  ThreadQueue() = default;
  // Finishes what was put on it, then ends the thread.
  ~ThreadQueue() override;

  // Runs `task` after everything put before it. What it throws, the returned work throws when it is waited
  // for, and later tasks are still run: a failed communicator fails them at once by itself.
  Work put(std::function<void()> task);

  Work mark() override;
  void wait_for(const Work& work) override;
  void delay(base::Nanoseconds duration) override;
  void drain() override;

 private:
  class Task;
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Task>> tasks_;
  std::atomic<int> unfinished_{0};
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace lockstep::comm
