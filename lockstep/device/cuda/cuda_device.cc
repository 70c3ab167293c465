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

// CUDA calls a driver that is not there an insufficient one; its version then is 0.
std::string why_no_device(cudaError_t result) {
  if (result == cudaSuccess || result == cudaErrorNoDevice) return "no CUDA device is visible";
  if (result != cudaErrorInsufficientDriver) return "CUDA does not start: " + cuda_text(result);
  int version = 0;
  const bool installed = cudaDriverGetVersion(&version) == cudaSuccess && version > 0;
  static_cast<void>(cudaGetLastError());
  return installed ? "NVIDIA's driver is older than this build's CUDA needs"
                   : "NVIDIA's driver is not installed";
}

}  // namespace

DeviceCount count_devices() {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result == cudaSuccess && count > 0) return {count, ""};
  static_cast<void>(cudaGetLastError());
  return {0, why_no_device(result)};
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
