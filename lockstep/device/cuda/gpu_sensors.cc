#include "lockstep/device/cuda/gpu_sensors.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace lockstep::device::cuda {
namespace {

// As nvml.h has them, which comes with a toolkit that this program does without; their layout is fixed.
using NvmlDevice = void*;
struct NvmlUtilisation {
  unsigned gpu;
  unsigned memory;
};
constexpr int kNvmlSuccess = 0;
constexpr int kMultiprocessorClock = 1;

struct Nvml {
  int (*init)() = nullptr;
  int (*handle_by_index)(unsigned, NvmlDevice*) = nullptr;  // from here on what old drivers may lack
  int (*compute_capability)(NvmlDevice, int*, int*) = nullptr;
  int (*cores)(NvmlDevice, unsigned*) = nullptr;  // to here
  int (*handle_by_uuid)(const char*, NvmlDevice*) = nullptr;
  int (*utilisation)(NvmlDevice, NvmlUtilisation*) = nullptr;
  int (*power)(NvmlDevice, unsigned*) = nullptr;
  int (*clock)(NvmlDevice, int, unsigned*) = nullptr;

  bool complete() const {
    return init != nullptr && handle_by_uuid != nullptr && utilisation != nullptr && power != nullptr &&
           clock != nullptr;
  }
};

template <class Function>
void resolve(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, symbol));
}

// Opened once and kept: the library counts its users itself.
std::optional<Nvml> open_nvml() {
  void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  Nvml nvml;
  resolve(library, "nvmlInit_v2", nvml.init);
  resolve(library, "nvmlDeviceGetHandleByIndex_v2", nvml.handle_by_index);
  resolve(library, "nvmlDeviceGetCudaComputeCapability", nvml.compute_capability);
  resolve(library, "nvmlDeviceGetNumGpuCores", nvml.cores);
  resolve(library, "nvmlDeviceGetHandleByUUID", nvml.handle_by_uuid);
  resolve(library, "nvmlDeviceGetUtilizationRates", nvml.utilisation);
  resolve(library, "nvmlDeviceGetPowerUsage", nvml.power);
  resolve(library, "nvmlDeviceGetClockInfo", nvml.clock);
  if (!nvml.complete() || nvml.init() != kNvmlSuccess) return std::nullopt;
  return nvml;
}

// "0123…" becomes "GPU-01234567-89ab-…".
std::string nvml_name(const std::string& uuid) {
  if (uuid.size() != 32) return uuid;
  return fmt::format("GPU-{}-{}-{}-{}-{}", uuid.substr(0, 8), uuid.substr(8, 4), uuid.substr(12, 4),
                     uuid.substr(16, 4), uuid.substr(20));
}

class NvmlSensors final : public GpuSensors {
 public:
  NvmlSensors(const Nvml& nvml, NvmlDevice device) : nvml_(nvml), device_(device) {}

  std::optional<measure::DeviceReading> read() override {
    NvmlUtilisation utilisation{};
    if (nvml_.utilisation(device_, &utilisation) != kNvmlSuccess) return std::nullopt;
    measure::DeviceReading reading;
    reading.percent = utilisation.gpu;
    unsigned figure = 0;
    if (nvml_.power(device_, &figure) == kNvmlSuccess) reading.watts = figure / 1e3;
    if (nvml_.clock(device_, kMultiprocessorClock, &figure) == kNvmlSuccess) reading.megahertz = figure;
    return reading;
  }

 private:
  Nvml nvml_;
  NvmlDevice device_;
};

}  // namespace

std::optional<GpuKind> kind_without_cuda() {
  constexpr unsigned kHopperCores = 128;  // of a multiprocessor
  constexpr int kHopper = 90;
  const std::optional<Nvml> nvml = open_nvml();
  if (!nvml || nvml->handle_by_index == nullptr || nvml->compute_capability == nullptr ||
      nvml->cores == nullptr)
    return std::nullopt;
  NvmlDevice device = nullptr;
  int major = 0, minor = 0;
  unsigned cores = 0;
  if (nvml->handle_by_index(0, &device) != kNvmlSuccess ||
      nvml->compute_capability(device, &major, &minor) != kNvmlSuccess ||
      nvml->cores(device, &cores) != kNvmlSuccess || major * 10 + minor != kHopper)
    return std::nullopt;
  return GpuKind{kHopper, static_cast<int>(cores / kHopperCores)};
}

std::unique_ptr<GpuSensors> gpu_sensors(const std::string& uuid) {
  const std::optional<Nvml> nvml = open_nvml();
  NvmlDevice device = nullptr;
  if (!nvml || nvml->handle_by_uuid(nvml_name(uuid).c_str(), &device) != kNvmlSuccess) return nullptr;
  return std::make_unique<NvmlSensors>(*nvml, device);
}

}  // namespace lockstep::device::cuda
