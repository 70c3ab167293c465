// Which CUDA devices this process sees, and which one a thread works on.
#pragma once

#include <string>

namespace lockstep::device::cuda {

// How many devices there are; when none, why. The first call starts the CUDA driver: a process that means to
// fork (without exec) does so before.
struct DeviceCount {
  int count = 0;
  std::string why_none;  // empty when there is one
};
DeviceCount count_devices();

struct DeviceFacts {
  std::string name;  // "NVIDIA H200"
  std::string uuid;  // hexadecimal; the same in every process, whatever CUDA_VISIBLE_DEVICES says
  int compute_major = 0;
  int compute_minor = 0;
};
DeviceFacts facts_of(int device);

// "13.0": what the driver supports, and what this program's runtime is.
std::string driver_version();
std::string runtime_version();

// Makes `device` the calling thread's current one while it lives.
class DeviceScope {
 public:
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_ = 0;
  int device_ = 0;
};

}  // namespace lockstep::device::cuda
