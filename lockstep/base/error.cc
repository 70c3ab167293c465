#include "lockstep/base/error.h"

#include <sys/resource.h>

#include <cerrno>
#include <system_error>

#include "lockstep/base/units.h"

namespace lockstep::base {
namespace {

// Of the limits that a shell sets, which one it was.
std::string limit_reached(int error_number) {
  rlimit limit{};
  if (error_number == EMFILE && ::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    return "; a process may open " + std::to_string(limit.rlim_cur) + ", see ulimit -n";
  if (error_number == EFBIG && ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    return "; a file may grow to " + format_bytes(limit.rlim_cur) + ", see ulimit -f";
  const bool no_memory = error_number == ENOMEM || error_number == EAGAIN;  // the latter for a thread's stack
  if (no_memory && ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    return "; a process may take " + format_bytes(limit.rlim_cur) + " of memory, see ulimit -v";
  return "";
}

}  // namespace

std::string errno_text() {
  return errno_text(errno);
}

std::string errno_text(int error_number) {
  return std::generic_category().message(error_number) + " (errno " + std::to_string(error_number) +
         limit_reached(error_number) + ")";
}

}  // namespace lockstep::base
