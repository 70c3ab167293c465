// What a row of the model's output looks like: a replica without rows has not seen one, and must know how
// many elements the others have. The first replica always has rows.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

#include "lockstep/base/clock.h"
#include "lockstep/parallel/dp/row_exchange.h"

namespace lockstep::parallel {

class OutputShape {
 public:
  explicit OutputShape(base::Nanoseconds timeout) : timeout_(timeout) {}

  // By replica 0 after its first forward.
  void publish(const at::Tensor& output);
  // Waits until it is known. Throws CommError when that takes too long, or after give_up().
  RowShape await();
  // Ends every wait: a replica has failed. From any thread.
  void give_up();

 private:
  const base::Nanoseconds timeout_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<RowShape> shape_;
  bool given_up_ = false;
};

}  // namespace lockstep::parallel
