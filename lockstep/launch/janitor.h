// A small process that removes a directory, and ends what ran for it, when its owner was killed and could not
// do so itself.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "lockstep/base/unique_fd.h"

namespace lockstep::launch {

class Janitor {
 public:
  // To be called before the process has threads. Where no process can be started there is no janitor, and the
  // directory stays until the next launch finds it. `group`: a process group to be killed first; 0: none. An
  // empty directory is none.
  explicit Janitor(const std::filesystem::path& directory, pid_t group = 0);
  Janitor(const Janitor&) = delete;
  Janitor& operator=(const Janitor&) = delete;
  // Sends it home: the owner has tidied up.
  ~Janitor();

 private:
  pid_t pid_ = -1;
  base::UniqueFd line_;  // its other end ends when we do, however that happens
};

}  // namespace lockstep::launch
