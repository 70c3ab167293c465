// What a backend on CUDA streams tells those who watch over its operations: whether its kernels still work,
// why not, and how to end them. Any thread may call any of it.
#pragma once

#include <string>
#include <string_view>

#include "lockstep/comm/operation.h"

namespace lockstep::comm {

class DeviceLink {
 public:
  virtual ~DeviceLink() = default;

  // The backend's name, for messages and the operation board; a literal.
  virtual const char* backend_name() const = 0;
  // False when an error was found or the communicator was aborted; check_health() then throws which, as a
  // CommError about `what`.
  virtual bool healthy() = 0;
  virtual void check_health(std::string_view what) = 0;
  // Whether kernels may have ended without having done their work: an event that has fired means nothing
  // then. Asked for every operation that ends, so it must be quick.
  virtual bool broken() const = 0;

  // Told of every operation when it has been put on the stream, and when it has ended well.
  virtual void submitted(const Operation&) {}
  virtual void completed(const Operation&) {}
  // Why the oldest operation in flight, which is late, has not ended: a sentence or more, with the next step.
  virtual std::string why_late(const Operation&) const {
    return "a peer did not start it, or started another one. Look at the other ranks' logs.";
  }

  // Ends what is on the device. The first reason is kept.
  virtual void abort(const std::string& reason) noexcept = 0;
  // After an abort, from time to time: ends what may have begun to wait since.
  virtual void abort_again() noexcept {}
  virtual bool aborted() const = 0;
  virtual std::string abort_reason() const = 0;
};

}  // namespace lockstep::comm
