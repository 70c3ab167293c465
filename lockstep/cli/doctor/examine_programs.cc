// The doctor runs the programs that ours may start.
#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/cli/doctor/finding.h"
#include "lockstep/cli/doctor/trial.h"
#include "lockstep/cli/train/worker_program.h"

namespace lockstep::cli {
namespace {

constexpr const char* kArea = "programs";
constexpr base::Nanoseconds kMpirunLimit = std::chrono::seconds(15);
constexpr base::Nanoseconds kPythonLimit =
    std::chrono::seconds(60);  // a cold import of torch reads gigabytes

std::string first_line(const std::string& text) {
  const std::vector<std::string> lines = base::split(base::trim(text), '\n');
  return lines.empty() ? "" : lines.front();
}

Finding examine_mpirun() {
  const auto file = find_program("mpirun");
  if (!file)
    return {kArea, "mpirun", Health::missing, "not in PATH", "For backend mpi: install openmpi-bin."};
  TrialResult trial = try_program({"mpirun", "--version"}, kMpirunLimit);
  const std::string version = trial.well() ? first_line(trial.output) : *file;
  if (trial.well())
    trial =
        try_program({"mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "1", "true"}, kMpirunLimit);
  if (trial.well()) return {kArea, "mpirun", Health::ok, version + ", starts processes"};
  return {kArea, "mpirun", Health::broken, version + " does not run: " + trial.complaint(),
          "Run `mpirun -n 1 true` by hand and see what it says."};
}

Finding examine_torch() {
  std::string python;
  try {
    python = python_with_torch();
  } catch (const base::DeviceError&) {
    return {kArea, "python torch", Health::missing, "no Python here has the module torch",
            "Only engine torch needs it: pip install torch, or apt install python3-torch."};
  }
  const TrialResult trial = try_program(
      python_command(
          python, "import torch, platform; print(torch.__version__, 'on Python', platform.python_version())"),
      kPythonLimit);
  if (trial.well()) return {kArea, "python torch", Health::ok, "torch " + first_line(trial.output)};
  return {kArea, "python torch", Health::broken, python + " cannot import torch: " + trial.complaint(),
          "Only engine torch needs it: install it again."};
}

}  // namespace

Findings examine_programs() {
  return {examine_mpirun(), examine_torch()};
}

}  // namespace lockstep::cli
