// What `lockstep train` is asked for: a spec from a file and flags, and how to run it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/cli/flag.h"
#include "lockstep/comm/rendezvous/identity.h"
#include "lockstep/record/spec.h"

namespace lockstep::cli {

// A field and what was typed for it.
struct Assignment {
  std::string field;
  std::string text;
};

struct TrainOptions {
  std::string spec_file;            // YAML or JSON; empty: none
  std::vector<Assignment> by_flag;  // over the file
  std::vector<Assignment> by_set;   // --set, over both
  std::optional<std::filesystem::path> store;
  bool shared = false;
  std::filesystem::path log_directory;  // empty: in the run's directory
  base::Nanoseconds join_timeout = std::chrono::seconds(120);
  comm::IdentityFlags identity;
  std::string interface;  // empty: found out
  std::string progress = "auto";
  bool json = false;
  bool dry_run = false;
};

// The table of flags, bound to `options`, which must outlive it: one for each field of a spec, and the
// command's own.
std::vector<Flag> train_flags(TrainOptions& options);

// The spec as it was asked for. Throws ConfigError.
record::RunSpec requested_spec(const TrainOptions& options);

}  // namespace lockstep::cli
