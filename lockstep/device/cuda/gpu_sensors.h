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

// Of the GPU with that identity (DeviceFacts). Null where the library or the GPU is not there: a run goes on
// without.
std::unique_ptr<GpuSensors> gpu_sensors(const std::string& uuid);

}  // namespace lockstep::device::cuda
