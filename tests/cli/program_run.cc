#include "tests/cli/program_run.h"

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace lockstep::testing {
namespace {

namespace fs = std::filesystem;

// A directory that goes with everything in it.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "lockstep-cli-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  fs::path path() const { return path_; }

 private:
  fs::path path_;
};

std::string contents(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream(file) << text;
}

}  // namespace

std::string program() {
  return std::string("'") + LOCKSTEP_PROGRAM + "'";
}

ProgramRun run_shell(const std::string& command, int limit_seconds) {
  const Scratch scratch;
  write(scratch.path() / "script", command + "\n");
  const std::string place = scratch.path().string();
  const std::string line = "timeout -k 2 " + std::to_string(limit_seconds) + " bash " + place + "/script > " +
                           place + "/out 2> " + place + "/err < /dev/null";
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), contents(scratch.path() / "out"),
          contents(scratch.path() / "err")};
}

ProgramRun run_lockstep(const std::string& arguments, int limit_seconds) {
  return run_shell(program() + " " + arguments, limit_seconds);
}

}  // namespace lockstep::testing
