// A pipe between a process and the launcher.
#pragma once

#include "lockstep/base/unique_fd.h"

namespace lockstep::launch {

struct Pipe {
  base::UniqueFd read_end;
  base::UniqueFd write_end;
};

// Both ends are closed on exec. Throws ConfigError when no more files can be opened.
Pipe make_pipe();

}  // namespace lockstep::launch
