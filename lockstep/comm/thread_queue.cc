#include "lockstep/comm/thread_queue.h"

#include <exception>

namespace lockstep::comm {

class ThreadQueue::Task : public Pending {
 public:
  explicit Task(std::function<void()> run) : run_(std::move(run)) {}

  void execute() {
    std::exception_ptr error;
    try {
      run_();
    } catch (...) {
      error = std::current_exception();
    }
    run_ = nullptr;
    {
      const std::lock_guard lock(mutex_);
      error_ = error;
      done_ = true;
    }
    finished_.notify_all();
  }

  bool done() const override {
    const std::lock_guard lock(mutex_);
    return done_;
  }

  void wait() override {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this] { return done_; });
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::function<void()> run_;
  mutable std::mutex mutex_;
  std::condition_variable finished_;
  bool done_ = false;
  std::exception_ptr error_;
};

ThreadQueue::~ThreadQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Work ThreadQueue::put(std::function<void()> run) {
  auto task = std::make_shared<Task>(std::move(run));
  {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
    tasks_.push_back(task);
    unfinished_.fetch_add(1, std::memory_order_relaxed);
  }
  changed_.notify_one();
  return Work(task);
}

Work ThreadQueue::mark() {
  return put([] {});
}

void ThreadQueue::wait_for(const Work& work) {
  put([work] { work.wait(); });
}

void ThreadQueue::delay(base::Nanoseconds duration) {
  put([duration] { std::this_thread::sleep_for(duration); });
}

void ThreadQueue::drain() {
  if (unfinished_.load(std::memory_order_acquire) == 0) return;
  mark().wait();
}

void ThreadQueue::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    const std::shared_ptr<Task> task = tasks_.front();
    tasks_.pop_front();
    lock.unlock();
    task->execute();
    unfinished_.fetch_sub(1, std::memory_order_release);
    lock.lock();
  }
}

}  // namespace lockstep::comm
