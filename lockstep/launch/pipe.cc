#include "lockstep/launch/pipe.h"

#include <fcntl.h>

#include <array>

#include "lockstep/base/error.h"

namespace lockstep::launch {

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw base::ConfigError("cannot make a pipe to a rank: " + base::errno_text() +
                            ". Raise the limit of open files (ulimit -n).");
  return {base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
}

}  // namespace lockstep::launch
