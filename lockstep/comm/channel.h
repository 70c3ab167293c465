// What a backend for host memory implements: run one operation at a time on the calling thread.
// HostCommunicator puts a queue, the operation's bookkeeping and failure reports around it.
#pragma once

#include <memory>
#include <string_view>

#include "lockstep/base/clock.h"
#include "lockstep/comm/communicator.h"

namespace lockstep::comm {

class Channel {
 public:
  virtual ~Channel() = default;
  virtual const Group& group() const = 0;
  virtual std::string_view backend() const = 0;
  virtual std::string_view link() const = 0;

  // Executes one valid operation. Fills wire_bytes, messages, peer_wait and estimated; busy is the caller's
  // to measure. Throws CommError: timed_out at the deadline, peer_lost, disagreement, or collateral after
  // abort().
  virtual measure::Movement execute(const Operation& operation, base::Deadline deadline) = 0;

  virtual Allocation allocate(std::size_t bytes,
                              base::Deadline deadline);  // plain aligned memory unless overridden
  // A local copy between places that this channel's buffers can be in; done when it returns.
  virtual void copy(const Buffer& to, const Buffer& from);
  virtual std::unique_ptr<Channel> split(int colour, int key, base::Deadline deadline) = 0;

  // From any thread: makes execute() return soon with an error. After it, the channel can only be destroyed.
  virtual void abort() noexcept = 0;
};

// Page-aligned private memory, touched, for backends that have no better place.
Allocation allocate_host(std::size_t bytes);
// The same, zero and untouched: pages that are never used cost nothing.
Allocation reserve_host(std::size_t bytes);

}  // namespace lockstep::comm
