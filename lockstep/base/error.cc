#include "lockstep/base/error.h"

#include <cerrno>
#include <system_error>

namespace lockstep::base {

std::string errno_text() {
  return errno_text(errno);
}

std::string errno_text(int error_number) {
  return std::generic_category().message(error_number) + " (errno " + std::to_string(error_number) + ")";
}

}  // namespace lockstep::base
