#include "lockstep/device/cuda/driver.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <string>

#include "lockstep/base/error.h"

namespace lockstep::device::cuda {
namespace {

// `version` is that of the CUDA which brought the function in the form that we call.
template <typename Function>
void find(Function*& function, const char* name, [[maybe_unused]] unsigned version) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status{};
#if CUDART_VERSION >= 12050
  const cudaError_t result =
      cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &status);
#else
  const cudaError_t result = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &status);
#endif
  if (result != cudaSuccess) static_cast<void>(cudaGetLastError());
  if (result == cudaSuccess && status == cudaDriverEntryPointSuccess)
    function = reinterpret_cast<Function*>(found);
}

Driver find_all() {
  Driver driver;
  find(driver.current_context, "cuCtxGetCurrent", 4000);
  find(driver.device_attribute, "cuDeviceGetAttribute", 2000);
  find(driver.error_name, "cuGetErrorName", 6000);
  find(driver.node_type, "cuGraphNodeGetType", 10000);
  find(driver.stream_memory, "cuStreamBatchMemOp", 11070);
  find(driver.add_memory_node, "cuGraphAddBatchMemOpNode", 11070);
  return driver;
}

}  // namespace

const Driver& Driver::get() {
  static const Driver driver = find_all();
  return driver;
}

void check_driver(CUresult result, std::string_view what) {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  if (Driver::get().error_name != nullptr) static_cast<void>(Driver::get().error_name(result, &name));
  throw base::DeviceError(fmt::format(
      "{}: {}", what, name == nullptr ? "CUDA error " + std::to_string(result) : std::string(name)));
}

}  // namespace lockstep::device::cuda
