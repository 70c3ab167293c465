// A communicator moves buffers between the ranks of a group. Everything in the program that sends, sends
// through one.
//
// Operations are executed in the order in which they are given, and every rank must give the same ones in the
// same order (send and receive: in matching pairs). One thread at a time may use a communicator; an
// independent channel comes from duplicate(). Every operation ends within the timeout the communicator was
// opened with: by success or by a CommError that names rank and operation. After an error a communicator can
// only be destroyed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "lockstep/comm/operation.h"
#include "lockstep/comm/queue.h"
#include "lockstep/measure/ledger.h"

namespace lockstep::comm {

// Who takes part, seen from one rank.
struct Group {
  int rank = 0;
  int world = 1;
  int local_rank = 0;  // among the ranks of this host
  int local_world = 1;
  std::string host;
};

// Called once when an operation has ended well, on the thread that found out; must not call the communicator.
using Completion = std::function<void(const measure::Movement&)>;

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual const Group& group() const = 0;
  virtual std::string_view backend() const = 0;
  // What carries the bytes: local, shm, tcp, p2p, or a library's own transport by name.
  virtual std::string_view link() const = 0;

  // Whether operations wait on a device that ranks of the group share, each of which has to get its own
  // begun: the same answer on every rank. False where that keeps nobody from beginning.
  virtual bool shares_device() const { return false; }

  // Runs the operation after everything started before it and returns when the output is ready.
  virtual measure::Movement run(const Operation& operation) = 0;
  // Puts the operation on the queue and returns at once. The buffers must stay until the work is complete.
  virtual Work start(const Operation& operation, Completion on_done = {}) = 0;
  virtual Queue& queue() = 0;

  // Memory where this backend is fastest. Collective: every rank asks for the same size at the same point.
  virtual Allocation allocate(std::size_t bytes) = 0;
  // What it keeps on the worker's GPU for itself, besides that; 0 where nobody knows (nccl).
  virtual std::uint64_t device_bytes() const { return 0; }

  // A local copy between any two places this communicator's buffers can be in; returns when it is done.
  virtual void copy(const Buffer& to, const Buffer& from) = 0;

  // Collective. Ranks of one colour form a group, ordered by key and then rank; a negative colour gets none.
  virtual std::unique_ptr<Communicator> split(int colour, int key) = 0;
  // Collective. The same group over an independent channel.
  virtual std::unique_ptr<Communicator> duplicate() = 0;

  // From any thread: makes every operation in flight, here and as far as possible on the peers, end in an
  // error.
  virtual void abort(const std::string& reason) noexcept = 0;
};

}  // namespace lockstep::comm
