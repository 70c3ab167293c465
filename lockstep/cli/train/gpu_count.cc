#include "lockstep/cli/train/gpu_count.h"

#include <dlfcn.h>

#include <stdexcept>

#include "lockstep/base/text.h"
#include "lockstep/cli/doctor/trial.h"

namespace lockstep::cli {
namespace {

constexpr base::Nanoseconds kDriverLimit = std::chrono::seconds(20);

void* open_driver() {
  return ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
}

template <typename Function>
Function* driver_function(void* driver, const char* name) {
  void* address = ::dlsym(driver, name);
  if (address == nullptr) throw std::runtime_error(std::string("the driver has no function ") + name);
  return reinterpret_cast<Function*>(address);
}

std::string count_of_driver() {
  void* driver = open_driver();
  if (driver == nullptr) throw std::runtime_error("NVIDIA's driver (libcuda.so.1) is not installed");
  int count = 0;
  if (driver_function<int(unsigned)>(driver, "cuInit")(0) != 0 ||
      driver_function<int(int*)>(driver, "cuDeviceGetCount")(&count) != 0)
    throw std::runtime_error("NVIDIA's driver does not start");
  return std::to_string(count);
}

// Most machines without a GPU lack the driver too: then no process is needed to find out.
bool has_driver() {
  void* driver = open_driver();
  if (driver != nullptr) ::dlclose(driver);
  return driver != nullptr;
}

GpuCount ask_for_gpus() {
  if (!has_driver()) return {0, "NVIDIA's driver (libcuda.so.1) is not installed"};
  const TrialResult asked = try_in_process(count_of_driver, kDriverLimit);
  if (!asked.well()) return {0, asked.complaint()};
  const int count = std::stoi(base::trim(asked.output));
  return {count, count > 0 ? "" : "NVIDIA's driver finds no device"};
}

}  // namespace

// Once: where something else has started the driver in this process since, a process that is forked from it
// cannot start it any more.
GpuCount count_gpus() {
  static const GpuCount found = ask_for_gpus();
  return found;
}

}  // namespace lockstep::cli
