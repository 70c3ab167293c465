// What a backend on CUDA streams tells those who watch over its operations: whether its kernels still work,
// why not, and how to end them. Any thread may call any of it.
#pragma once

#include <string>
#include <string_view>

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

  // Ends what is on the device. The first reason is kept.
  virtual void abort(const std::string& reason) noexcept = 0;
  virtual bool aborted() const = 0;
  virtual std::string abort_reason() const = 0;
};

}  // namespace lockstep::comm
