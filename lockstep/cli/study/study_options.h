// What `lockstep study` is asked for.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/cli/flag.h"
#include "lockstep/lab/study.h"

namespace lockstep::cli {

struct StudyRequest {
  std::string name;  // a file, or a built-in study's name
  lab::StudyChoice choice;
  bool shared = false;
  bool list = false;
  bool dry_run = false;
  bool resume = false;
  bool fresh = false;
  bool json = false;
  base::Nanoseconds budget{0};  // 0: the study's own
  std::optional<std::filesystem::path> store;
  std::string interface;  // empty: found out
  std::string progress = "auto";
};

// The table of flags, bound to `request`, which must outlive it.
std::vector<Flag> study_flags(StudyRequest& request);

}  // namespace lockstep::cli
