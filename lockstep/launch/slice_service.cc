#include "lockstep/launch/slice_service.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include <fstream>

#include "lockstep/base/clock.h"
#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/device/slices.h"

namespace lockstep::launch {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSaid = "said.txt";  // what the service writes to its terminal

[[noreturn]] void refuse(const std::string& why) {
  throw base::DeviceError(fmt::format(
      "slice_share needs NVIDIA's Multi-Process Service (MPS), and it cannot be used here: {}. Next step: "
      "lockstep doctor, or leave slice_share out: workers on one GPU then take turns.",
      why));
}

// In the foreground it is our child, and ends with us.
Process start_control(const fs::path& directory) {
  const fs::path program = device::service_program();
  if (program.empty()) refuse("nvidia-cuda-mps-control is not installed; it comes with NVIDIA's driver");
  fs::create_directory(directory / "pipe");
  fs::create_directory(directory / "log");
  const base::UniqueFd said(
      open((directory / kSaid).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  ProcessOptions options;
  options.command = {program.string(), "-f"};
  options.environment = merged(current_variables(), device::service_environment(directory));
  options.output_fd = said.get();
  options.error_fd = said.get();
  return Process(options);
}

std::string last_words(const fs::path& directory) {
  std::ifstream file(directory / kSaid);
  std::string last = "it ended without a word";
  for (std::string line; std::getline(file, line);)
    if (!base::trim(line).empty()) last = base::trim(line);
  return last;
}

// Returns whether the process has ended within the limit.
bool ends_within(Process& process, base::Nanoseconds limit) {
  const base::Deadline deadline(limit);
  while (!process.status()) {
    if (deadline.passed()) return false;
    pollfd end{process.poll_fd(), POLLIN, 0};
    poll(&end, 1, 10);
  }
  return true;
}

// It listens when its end of the line is there.
void wait_until_ready(Process& control, const fs::path& directory) {
  constexpr base::Nanoseconds kLimit = std::chrono::seconds(20);
  const base::Deadline deadline(kLimit);
  while (!fs::exists(directory / "pipe" / "control")) {
    if (ends_within(control, std::chrono::milliseconds(10))) refuse(last_words(directory));
    if (deadline.passed()) refuse("it did not answer within 20 seconds");
  }
}

}  // namespace

SliceService::SliceService() : control_(start_control(directory_.path())), janitor_({}, control_.pid()) {
  wait_until_ready(control_, directory_.path());
}

// What does not end when it is asked is killed with its process.
SliceService::~SliceService() {
  control_.signal_group(SIGTERM);
  ends_within(control_, std::chrono::seconds(3));
}

Variables SliceService::variables() const {
  return device::service_environment(directory_.path());
}

}  // namespace lockstep::launch
