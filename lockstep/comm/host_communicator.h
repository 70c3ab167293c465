// A communicator over a host Channel: runs operations inline when the queue is empty (no thread to hand over
// to, so small messages stay fast), on the communication thread when they are started asynchronously.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "lockstep/comm/channel.h"
#include "lockstep/comm/communicator.h"
#include "lockstep/comm/operation_board.h"
#include "lockstep/comm/thread_queue.h"

namespace lockstep::comm {

class HostCommunicator : public Communicator {
 public:
  // `boards` may be null, and must outlive the communicator otherwise.
  HostCommunicator(std::unique_ptr<Channel> channel, base::Nanoseconds timeout, OperationBoards* boards);
  ~HostCommunicator() override;

  const Group& group() const override { return channel_->group(); }
  std::string_view backend() const override { return channel_->backend(); }
  std::string_view link() const override { return channel_->link(); }
  measure::Movement run(const Operation& operation) override;
  Work start(const Operation& operation, Completion on_done) override;
  Queue& queue() override { return queue_; }
  Allocation allocate(std::size_t bytes) override;
  void copy(const Buffer& to, const Buffer& from) override;
  std::unique_ptr<Communicator> split(int colour, int key) override;
  std::unique_ptr<Communicator> duplicate() override;
  void abort(const std::string& reason) noexcept override;

 private:
  measure::Movement execute(const Operation& operation);
  measure::Movement execute_watched(const Operation& operation, base::TimePoint start);

  std::unique_ptr<Channel> channel_;
  base::Nanoseconds timeout_;
  OperationBoards* boards_;
  std::shared_ptr<OperationBoard> board_;  // null without boards
  std::atomic<bool> failed_{false};
  ThreadQueue queue_;  // last: its thread ends before what it uses goes
};

}  // namespace lockstep::comm
