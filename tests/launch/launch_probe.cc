// A launcher for tests: launch_probe [workers=N] [mpirun=1] [threads=N] [time_limit=S] [grace=S] [logs=DIR]
// [join_timeout=S] [timeout=S] [ranks_join=0] -- COMMAND... What goes wrong before a rank runs is printed and
// becomes the exit code, as in the real program.
#include <cstdio>
#include <map>
#include <string>

#include "lockstep/base/error.h"
#include "lockstep/base/units.h"
#include "lockstep/launch/launcher.h"

namespace {

using lockstep::launch::LaunchOptions;

LaunchOptions options_from(int argc, char** argv) {
  std::map<std::string, std::string> given;
  LaunchOptions options;
  int i = 1;
  for (; i < argc && std::string(argv[i]) != "--"; ++i) {
    const std::string text = argv[i];
    given[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  options.command.assign(argv + i + 1, argv + argc);
  options.workers = std::stoi(given.count("workers") ? given["workers"] : "2");
  options.through_mpirun = given.count("mpirun") > 0;
  if (given.count("threads")) options.threads_per_worker = std::stoi(given["threads"]);
  if (given.count("time_limit")) options.time_limit = lockstep::base::parse_duration(given["time_limit"]);
  if (given.count("grace")) options.grace = lockstep::base::parse_duration(given["grace"]);
  if (given.count("join_timeout"))
    options.join_timeout = lockstep::base::parse_duration(given["join_timeout"]);
  if (given.count("timeout")) options.timeout = lockstep::base::parse_duration(given["timeout"]);
  if (given.count("ranks_join")) options.ranks_join = given["ranks_join"] != "0";
  if (given.count("logs")) options.log_directory = given["logs"];
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return lockstep::launch::launch(options_from(argc, argv));
  } catch (const lockstep::base::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return static_cast<int>(error.exit_code());
  }
}
