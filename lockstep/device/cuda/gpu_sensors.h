// What NVIDIA's management library (NVML) says about a GPU while it works: how much of the time it was busy,
// what power it takes, how fast it runs. All processes on it are seen together.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lockstep/measure/utilisation.h"

namespace lockstep::device::cuda {

class GpuSensors {
 public:
  virtual ~GpuSensors() = default;
  // Nothing where the GPU does not tell how busy it is.
  virtual std::optional<measure::DeviceReading> read() = 0;
};

// What the first GPU of this host is, asked without CUDA, which must not have begun where a process is still
// to choose its slice. Nothing where that cannot be told, which is so for all but Hopper.
struct GpuKind {
  int compute_capability = 0;  // 90
  int multiprocessors = 0;
};
std::optional<GpuKind> kind_without_cuda();

// Of the GPU with that identity (DeviceFacts). Null where the library or the GPU is not there: a run goes on
// without.
std::unique_ptr<GpuSensors> gpu_sensors(const std::string& uuid);

}  // namespace lockstep::device::cuda
