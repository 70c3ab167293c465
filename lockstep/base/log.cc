#include "lockstep/base/log.h"

#include <unistd.h>

#include <string>

#include "lockstep/base/environment.h"
#include "lockstep/base/printable.h"

namespace lockstep::base {
namespace {

void write_line(std::string_view prefix, std::string_view message) {
  const std::string line = std::string(prefix) + printable(message) + '\n';
  // A log line that cannot be written has nowhere else to go.
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

void log_info(std::string_view message) {
  write_line("", message);
}
void log_warning(std::string_view message) {
  write_line("warning: ", message);
}
void log_debug(std::string_view message) {
  if (environment("LOCKSTEP_VERBOSE")) write_line("debug: ", message);
}

}  // namespace lockstep::base
