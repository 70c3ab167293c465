#include "lockstep/parallel/dp/output_shape.h"

#include <ATen/ATen.h>

#include "lockstep/base/error.h"

namespace lockstep::parallel {

void OutputShape::publish(const at::Tensor& output) {
  {
    const std::lock_guard lock(mutex_);
    if (shape_) return;
    shape_ = RowShape::of(output);
  }
  changed_.notify_all();
}

RowShape OutputShape::await() {
  std::unique_lock lock(mutex_);
  const bool in_time = changed_.wait_for(lock, timeout_, [this] { return shape_ || given_up_; });
  if (given_up_)
    throw base::CommError(base::CommError::Kind::collateral, "a replica ends because of another one");
  if (!in_time)
    throw base::CommError(base::CommError::Kind::timed_out,
                          "replica 0 did not finish its first forward within the timeout; raise --timeout.");
  return *shape_;
}

void OutputShape::give_up() {
  {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
  }
  changed_.notify_all();
}

}  // namespace lockstep::parallel
