// Keeps the stream's hands off host memory once an operation has failed: a copy to or from a caller's buffer
// may still be on the stream then, while the caller has been told and its buffer is gone.
#pragma once

#include <mutex>

namespace lockstep::comm {

class HostGate {
 public:
  // Runs `touch` unless the gate is closed. Nothing is touched after close() has returned.
  template <typename Touch>
  void pass(Touch touch) {
    const std::lock_guard lock(mutex_);
    if (open_) touch();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }

 private:
  std::mutex mutex_;
  bool open_ = true;
};

}  // namespace lockstep::comm
