#include "lockstep/cli/console.h"

#include <unistd.h>

#include <cerrno>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"

namespace lockstep::cli {
namespace {

bool wants_color(const std::string& choice, int fd) {
  if (choice == "always") return true;
  if (choice == "never" || base::environment("NO_COLOR")) return false;
  if (base::environment("OMPI_COMM_WORLD_RANK")) return false;  // mpirun's own terminal, whatever ours is
  return ::isatty(fd) == 1 && base::environment("TERM").value_or("dumb") != "dumb";
}

std::string_view code_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "\033[32m";
    case Tone::warning:
      return "\033[33m";
    case Tone::bad:
      return "\033[1;31m";
    case Tone::heading:
      return "\033[1m";
    case Tone::quiet:
      return "\033[2m";
    case Tone::plain:
      break;
  }
  return "";
}

}  // namespace

Console::Console(const std::string& color)
    : color_out_(wants_color(color, STDOUT_FILENO)), color_err_(wants_color(color, STDERR_FILENO)) {}

void Console::print(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      throw ReaderGone();
    } else if (errno != EINTR) {
      const char* cure = errno == EBADF ? ". It is closed: send the output somewhere."
                                        : ". Make room there, or send the output elsewhere.";
      throw base::StoreError("the results cannot be written to standard output: " + base::errno_text() +
                             cure);
    }
  }
}

void Console::note(std::string_view text) const noexcept {
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
}

std::string Console::paint(std::string_view text, Tone tone, bool color) {
  if (!color || tone == Tone::plain) return std::string(text);
  return std::string(code_of(tone)) + std::string(text) + "\033[0m";
}

}  // namespace lockstep::cli
