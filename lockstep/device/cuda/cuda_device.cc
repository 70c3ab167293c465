#include "lockstep/device/cuda/cuda_device.h"

#include <fmt/format.h>

#include "lockstep/device/cuda/cuda_error.h"

namespace lockstep::device::cuda {
namespace {

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string hexadecimal(const cudaUUID_t& uuid) {
  std::string text;
  for (const char byte : uuid.bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

}  // namespace

DeviceCount count_devices() {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result == cudaSuccess && count > 0) return {count, ""};
  static_cast<void>(cudaGetLastError());
  if (result == cudaSuccess) return {0, "no CUDA device is visible"};
  return {0, "the CUDA driver found no device: " + cuda_text(result)};
}

DeviceFacts facts_of(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), fmt::format("asking what CUDA device {} is", device));
  return {properties.name, hexadecimal(properties.uuid), properties.major, properties.minor};
}

std::string driver_version() {
  int version = 0;
  check(cudaDriverGetVersion(&version), "asking for the CUDA driver's version");
  return version_text(version);
}

std::string runtime_version() {
  int version = 0;
  check(cudaRuntimeGetVersion(&version), "asking for the CUDA runtime's version");
  return version_text(version);
}

DeviceScope::DeviceScope(int device) : device_(device) {
  check(cudaGetDevice(&before_), "asking for the current CUDA device");
  if (before_ != device_)
    check(cudaSetDevice(device_), fmt::format("making CUDA device {} the current one", device_));
}

DeviceScope::~DeviceScope() {
  if (before_ != device_) static_cast<void>(cudaSetDevice(before_));
}

}  // namespace lockstep::device::cuda
