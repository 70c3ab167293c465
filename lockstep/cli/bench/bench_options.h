// What a bench is asked to do: values as the flags set them, and what must hold between them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/cli/flag.h"
#include "lockstep/comm/operation.h"
#include "lockstep/comm/rendezvous/identity.h"

namespace lockstep::cli {

// Whose memory is moved: allocated by the communicator, private to the process, or both one after the other.
// `automatic`: both for all-reduce, owned for the rest.
enum class BufferChoice { automatic, owned, private_, both };

struct BenchOptions {
  std::vector<measure::Collective> collectives;
  std::vector<std::string> backends;  // empty: shm
  std::optional<int> workers;
  std::uint64_t min_bytes = 4 * 1024;
  std::uint64_t max_bytes = 64 * 1024 * 1024;
  double factor = 4;
  std::uint64_t step_bytes = 0;  // 0: the factor counts
  int iterations = 0;            // operations timed per size; 0: chosen so that a size takes about 0.3 s
  std::optional<int> warmup;     // none: chosen likewise
  bool check = true;
  std::vector<comm::ElementType> types;  // empty: f32
  std::vector<comm::ReduceOp> ops;       // empty: sum
  std::optional<int> root;               // none: 0, where there is one
  BufferChoice buffer = BufferChoice::automatic;
  base::Nanoseconds timeout = std::chrono::seconds(60);
  base::Nanoseconds join_timeout = std::chrono::seconds(60);
  std::string interface;
  std::map<std::string, std::vector<std::string>> algorithms;  // by backend; none: auto
  std::optional<double> min_busbw;                             // bytes per second
  comm::IdentityFlags identity;
  std::filesystem::path log_directory;
  int threads = 0;
  bool json = false;
  std::filesystem::path json_file;  // the JSON document goes there too
  std::string progress = "auto";

  // Fills the defaults that depend on what was not given, and throws UsageError where values contradict each
  // other.
  void complete();
};

// The table of flags, bound to `options`, which must outlive it.
std::vector<Flag> bench_flags(BenchOptions& options);

}  // namespace lockstep::cli
