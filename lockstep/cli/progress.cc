#include "lockstep/cli/progress.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lockstep/base/environment.h"
#include "lockstep/base/printable.h"

namespace lockstep::cli {

Progress::Progress(const std::string& how) : lines_(how == "lines") {
  if (how == "none") return;
  if (const auto name = base::environment(kTerminalVariable))
    terminal_.reset(::open(name->c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  bar_ = how == "bar" || (how == "auto" && (terminal_ || ::isatty(STDERR_FILENO) == 1));
}

Progress::~Progress() {
  clear();
}

void Progress::show(std::size_t done, std::size_t total, const std::string& what) {
  show(fmt::format("[{}/{}] {}", done + 1, total, what));
}

void Progress::show(const std::string& said) {
  const std::string text = base::printable_line(said);
  if (bar_) {
    write(kTakeAway + text.substr(0, columns()));
    drawn_ = true;
  } else if (lines_) {
    write(text + "\n");
  }
}

void Progress::clear() {
  if (drawn_) write(kTakeAway);
  drawn_ = false;
}

// A line that wraps could not be taken away again.
std::size_t Progress::columns() const {
  winsize size{};
  const int fd = terminal_ ? terminal_.get() : STDERR_FILENO;
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : std::string::npos;
}

void Progress::write(const std::string& text) const {
  [[maybe_unused]] const ssize_t ignored =
      ::write(terminal_ ? terminal_.get() : STDERR_FILENO, text.data(), text.size());
}

std::string terminal_name() {
  const char* name = ::isatty(STDERR_FILENO) == 1 ? ::ttyname(STDERR_FILENO) : nullptr;
  return name == nullptr ? std::string() : name;
}

}  // namespace lockstep::cli
