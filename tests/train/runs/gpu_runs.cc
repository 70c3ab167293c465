#include "tests/train/runs/gpu_runs.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>

#include "lockstep/base/text.h"
#include "tests/cli/program_run.h"
#include "tests/cli/started_program.h"

namespace lockstep::testing {
namespace {

namespace fs = std::filesystem;

// What the kernel calls the workers, and the service's two programs: names end after 15 letters.
const std::set<std::string> kNames = {"lockstep-worker", "nvidia-cuda-mps"};

// Why this build's worker cannot use a GPU; empty when it can.
std::string why_not_built() {
#ifdef LOCKSTEP_WHY_ABSENT
  return LOCKSTEP_WHY_ABSENT;
#else
  return "";
#endif
}

// The program tells what its driver says.
std::string ask_why_no_gpu() {
  const ProgramRun run = run_lockstep("train --dry-run --device cuda --model lenet5 --data digits --steps 1");
  return run.exit_code == 0 ? why_not_built() : base::trim(run.err);
}

// Once: it takes a while.
const std::string& why_no_gpu() {
  static const std::string why = ask_why_no_gpu();
  return why;
}

// "123 (name) S ...": the name may hold anything, the state is one letter. A process that has ended and that
// nobody has asked after yet (Z) does not run any more.
bool runs_as_one_of_ours(const fs::path& directory) {
  std::ifstream file(directory / "stat");
  std::string line;
  std::getline(file, line);
  const std::size_t open = line.find('('), close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close + 2 >= line.size()) return false;
  return line[close + 2] != 'Z' && kNames.contains(line.substr(open + 1, close - open - 1));
}

std::optional<pid_t> number_in(const std::string& name) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  const bool whole = error == std::errc() && end == name.data() + name.size();
  return whole ? std::optional(pid) : std::nullopt;
}

}  // namespace

std::set<pid_t> Leftovers::processes() {
  std::set<pid_t> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const auto pid = number_in(entry.path().filename().string());
    if (pid && runs_as_one_of_ours(entry.path())) found.insert(*pid);
  }
  return found;
}

std::set<std::string> Leftovers::directories() {
  std::set<std::string> found;
  std::error_code ignored;
  for (const fs::path& place : {fs::path("/dev/shm"), fs::temp_directory_path()})
    for (const auto& entry : fs::directory_iterator(place, ignored))
      if (entry.path().filename().string().starts_with("lockstep-run-")) found.insert(entry.path().string());
  return found;
}

std::string Leftovers::left() const {
  std::string text;
  for (const pid_t pid : processes())
    if (!processes_.contains(pid)) text += "process " + std::to_string(pid) + "\n";
  for (const std::string& directory : directories())
    if (!directories_.contains(directory)) text += directory + "\n";
  return text;
}

std::string Leftovers::await_none() const {
  comes_true([this] { return left().empty(); }, std::chrono::seconds(10));
  return left();
}

void GpuRuns::SetUp() {
  if (!why_no_gpu().empty()) GTEST_SKIP() << "there is no GPU to train on: " << why_no_gpu();
}

void GpuRuns::TearDown() {
  if (!why_no_gpu().empty()) return;
  EXPECT_EQ(before_.await_none(), "");
}

}  // namespace lockstep::testing
