// The definitions of where the source tree's engines lie, and of the Python of pip's PyTorch, come from
// CMakeLists.txt.
#include "lockstep/cli/train/worker_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/cli/doctor/trial.h"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

constexpr base::Nanoseconds kPythonLimit = std::chrono::seconds(30);

fs::path program_directory() {
  return fs::read_symlink("/proc/self/exe").parent_path();
}

bool can_run(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0;
}

std::vector<std::string> own_engine() {
  if (const auto worker = find_worker()) return {worker->string()};
  throw base::DeviceError(fmt::format(
      "there is no lockstep-worker beside this program ({}): it was built without libtorch. Next step: "
      "install "
      "libtorch-dev (or pip's torch, with TORCH=pip) and build again, or use --engine torch where python3 "
      "imports torch.",
      program_directory().string()));
}

// Installed, or in the tree this program was built from.
std::optional<fs::path> torch_script() {
  const fs::path installed = program_directory().parent_path() / "share" / "lockstep" / "engines" / "torch";
  for (const fs::path& place : {installed, fs::path(LOCKSTEP_SOURCE_ENGINES) / "torch"})
    if (fs::is_regular_file(place / "lockstep_torch.py")) return place / "lockstep_torch.py";
  return std::nullopt;
}

// The user's choice alone; else the first python on the path, the one whose torch this program was built
// with, and the system's, whose torch is Debian's.
std::vector<std::string> pythons() {
  if (const auto given = base::environment(kPythonVariable)) return {*given};
  std::vector<std::string> places{"python3"};
  if (const std::string built_with = LOCKSTEP_TORCH_PYTHON; !built_with.empty()) places.push_back(built_with);
  places.push_back("/usr/bin/python3");
  return places;
}

// An empty entry of PYTHONPATH, as `PYTHONPATH=$PYTHONPATH:DIR` makes one, means the current directory too.
// It is taken out for whatever we start; a directory that is named stays.
void name_directories_only() {
  constexpr const char* kPath = "PYTHONPATH";
  const std::optional<std::string> path = base::environment(kPath);
  if (!path) return;
  std::vector<std::string> named = base::split(*path, ':');
  std::erase(named, "");
  ::setenv(kPath, base::join(named, ":").c_str(), 1);
}

std::vector<std::string> torch_engine() {
  const auto script = torch_script();
  if (!script)
    throw base::DeviceError(
        "engine torch cannot be used here: its script engines/torch/lockstep_torch.py is not installed "
        "beside "
        "this program. Next step: install Lockstep again, or use --engine lockstep.");
  return {python_with_torch(), script->string()};
}

}  // namespace

std::optional<fs::path> find_worker() {
  if (const auto given = base::environment(kWorkerVariable)) {
    if (can_run(*given)) return fs::absolute(*given);
    throw base::DeviceError(
        fmt::format("{} names '{}', which is no program that can be run. Next step: correct it, "
                    "or leave it unset for the worker beside this program.",
                    kWorkerVariable, *given));
  }
  const fs::path beside = program_directory() / "lockstep-worker";
  return can_run(beside) ? std::optional(beside) : std::nullopt;
}

std::vector<std::string> python_command(const std::string& python, const std::string& code) {
  name_directories_only();
  return {python, "-c", "import sys; sys.path[:] = [place for place in sys.path if place]; " + code};
}

// Finding torch is quick; importing it takes seconds and is left to whoever runs it.
std::string python_with_torch() {
  constexpr const char* kQuestion =
      "import importlib.util; sys.exit(0 if importlib.util.find_spec('torch') else 'it has no module "
      "torch')";
  std::vector<std::string> complaints;
  for (const std::string& python : pythons()) {
    const TrialResult asked = try_program(python_command(python, kQuestion), kPythonLimit);
    if (asked.well()) return python;
    complaints.push_back(fmt::format("{}: {}", python, asked.complaint()));
  }
  throw base::DeviceError(
      fmt::format("engine torch cannot be used here: no Python that imports torch ({}). Next step: pip "
                  "install torch, or apt install python3-torch, or name another Python with {}, or use "
                  "--engine lockstep.",
                  base::join(complaints, "; "), kPythonVariable));
}

std::vector<std::string> worker_command(const std::string& engine) {
  return engine == "torch" ? torch_engine() : own_engine();
}

}  // namespace lockstep::cli
