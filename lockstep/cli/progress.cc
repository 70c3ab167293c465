#include "lockstep/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include "lockstep/base/environment.h"

namespace lockstep::cli {

Progress::Progress(const std::string& how, int fd)
    : fd_(fd), bar_(how == "bar" || (how == "auto" && ::isatty(fd) == 1)), lines_(how == "lines") {}

Progress::~Progress() {
  clear();
}

void Progress::show(std::size_t done, std::size_t total, const std::string& what) {
  const std::string text = fmt::format("[{}/{}] {}", done + 1, total, what);
  if (bar_) {
    write("\r\033[K" + text);
    visible_ = true;
  } else if (lines_) {
    write(text + "\n");
  }
}

void Progress::clear() {
  if (visible_) write("\r\033[K");
  visible_ = false;
}

void Progress::write(const std::string& text) const {
  [[maybe_unused]] const ssize_t ignored = ::write(fd_, text.data(), text.size());
}

int progress_fd() {
  const auto fd = base::environment_integer(kProgressFdVariable);
  return fd && ::isatty(static_cast<int>(*fd)) == 1 ? static_cast<int>(*fd) : STDERR_FILENO;
}

}  // namespace lockstep::cli
