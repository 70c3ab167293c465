// The doctor's look at GPUs, through the driver's own library: nothing of ours is linked with CUDA here.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "lockstep/base/text.h"
#include "lockstep/cli/doctor/finding.h"
#include "lockstep/cli/doctor/trial.h"
#include "lockstep/device/slices.h"

namespace lockstep::cli {
namespace {

constexpr const char* kArea = "gpu";
constexpr base::Nanoseconds kLimit = std::chrono::seconds(20);

// A function of an opened library. Throws when it is not there.
template <typename Function>
Function* symbol(void* library, const char* name) {
  void* address = ::dlsym(library, name);
  if (address == nullptr) throw std::runtime_error(fmt::format("the library has no function {}", name));
  return reinterpret_cast<Function*>(address);
}

void* open_library(const char* name) {
  void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(::dlerror());
  return library;
}

bool can_open(const char* name) {
  return try_in_process([name] { return open_library(name) != nullptr ? "" : ""; }, kLimit).well();
}

void require_success(int code, const char* call) {
  if (code != 0) throw std::runtime_error(fmt::format("{} returned error {}", call, code));
}

std::string device_name(void* driver, int index) {
  int device = 0;
  std::array<char, 256> name{};
  require_success(symbol<int(int*, int)>(driver, "cuDeviceGet")(&device, index), "cuDeviceGet");
  require_success(
      symbol<int(char*, int, int)>(driver, "cuDeviceGetName")(name.data(), int{name.size()}, device),
      "cuDeviceGetName");
  return name.data();
}

// "CUDA 13.0, 1 device: NVIDIA H200".
std::string ask_driver() {
  void* driver = open_library("libcuda.so.1");
  require_success(symbol<int(unsigned)>(driver, "cuInit")(0), "cuInit");
  int version = 0, count = 0;
  require_success(symbol<int(int*)>(driver, "cuDriverGetVersion")(&version), "cuDriverGetVersion");
  require_success(symbol<int(int*)>(driver, "cuDeviceGetCount")(&count), "cuDeviceGetCount");
  if (count == 0) throw std::runtime_error("the driver finds no device");
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(device_name(driver, i));
  return fmt::format("CUDA {}.{}, {} device{}: {}", version / 1000, version % 1000 / 10, count,
                     count == 1 ? "" : "s", base::join(names, ", "));
}

std::string ask_nccl() {
  int version = 0;
  require_success(symbol<int(int*)>(open_library("libnccl.so.2"), "ncclGetVersion")(&version),
                  "ncclGetVersion");
  return fmt::format("NCCL {}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

Finding examine_library(const std::string& name, const char* library, const std::function<std::string()>& ask,
                        const std::string& next_step) {
  if (!can_open(library))
    return {kArea, name, Health::missing, std::string(library) + " is not here", next_step};
  const TrialResult trial = try_in_process(ask, kLimit);
  if (trial.well()) return {kArea, name, Health::ok, trial.output};
  return {kArea, name, Health::broken, trial.output.empty() ? trial.complaint() : trial.output, next_step};
}

Finding examine_mps() {
  const std::filesystem::path program = device::service_program();
  if (!program.empty()) return {kArea, "mps", Health::ok, program.string()};
  return {kArea, "mps", Health::missing, "nvidia-cuda-mps-control is not installed",
          "Only slices of a GPU (--slice-share) need it; it comes with the driver."};
}

// What is different where a run has more workers than there are GPUs.
Finding name_what_sharing_changes() {
  return {
      kArea, "sharing", Health::ok,
      "more workers than GPUs share them: by turns, or at the same time in slices (--slice-share, with mps). "
      "Then --backend auto is p2p; over nccl, which does not support it, --overlap auto is off and "
      "NCCL_MAX_CTAS is 1 unless you set it (docs/gpu.md)"};
}

}  // namespace

Findings examine_gpu() {
  Findings findings = {
      examine_library("cuda", "libcuda.so.1", ask_driver, "Install NVIDIA's driver, or use --device cpu."),
      examine_library("libnccl", "libnccl.so.2", ask_nccl, "Only backend nccl needs it: install libnccl2."),
      examine_mps()};
  if (findings.front().health == Health::ok) findings.push_back(name_what_sharing_changes());
  return findings;
}

}  // namespace lockstep::cli
