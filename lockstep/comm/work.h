// Work: the handle of something started on a queue.
#pragma once

#include <memory>

namespace lockstep::comm {

// What a queue keeps for one piece of started work.
class Pending {
 public:
  virtual ~Pending() = default;
  virtual bool done() const = 0;
  // Returns when it is complete; throws what went wrong in it. Bounded by the timeout of the work itself.
  virtual void wait() = 0;
  // The device event (cudaEvent_t) that fires when it is complete; null for work of the host. With it one
  // device queue waits for another, whoever made them.
  virtual void* device_event() const { return nullptr; }
  // The recording (device::cuda::Graph) that this event is part of, or null: what is ordered after it is
  // recorded too, instead of run.
  virtual void* recording() const { return nullptr; }
};

// A copyable handle. An empty one is complete.
class Work {
 public:
  Work() = default;
  explicit Work(std::shared_ptr<Pending> pending) : pending_(std::move(pending)) {}

  bool done() const { return pending_ == nullptr || pending_->done(); }
  void wait() const {
    if (pending_ != nullptr) pending_->wait();
  }
  Pending* pending() const { return pending_.get(); }

 private:
  std::shared_ptr<Pending> pending_;
};

}  // namespace lockstep::comm
