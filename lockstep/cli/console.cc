#include "lockstep/cli/console.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"
#include "lockstep/base/printable.h"

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

constexpr std::string_view kEndOfTone = "\033[0m";

// How long the mark is that begins here and that we set ourselves: a colour, where the stream has them, or
// the line end of CSV. 0: none.
std::size_t own_mark(std::string_view rest, bool color) {
  if (rest.starts_with("\r\n")) return 2;
  if (!color) return 0;
  for (const Tone tone : {Tone::good, Tone::warning, Tone::bad, Tone::heading, Tone::quiet})
    if (rest.starts_with(code_of(tone))) return code_of(tone).size();
  return rest.starts_with(kEndOfTone) ? kEndOfTone.size() : 0;
}

// Names, titles and records may come from anybody: of what a terminal obeys, only our own marks are left.
std::string fit_for_terminal(std::string_view text, bool color) {
  std::string fit;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t at = std::min(text.find_first_of("\r\033", from), text.size());
    fit += base::printable(text.substr(from, at - from));
    if (at == text.size()) break;
    const std::size_t mark = own_mark(text.substr(at), color);
    fit += mark > 0 ? std::string(text.substr(at, mark)) : base::printable(text.substr(at, 1));
    from = at + std::max<std::size_t>(mark, 1);
  }
  return fit;
}

}  // namespace

Console::Console(const std::string& color)
    : color_out_(wants_color(color, STDOUT_FILENO)), color_err_(wants_color(color, STDERR_FILENO)) {}

void Console::print(std::string_view results) const {
  const std::string fit = fit_for_terminal(results, color_out_);
  std::string_view text = fit;
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
  try {
    const std::string fit = fit_for_terminal(text, color_err_);
    [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, fit.data(), fit.size());
  } catch (const std::bad_alloc&) {
  }
}

std::string Console::paint(std::string_view text, Tone tone, bool color) {
  if (!color || tone == Tone::plain) return std::string(text);
  return std::string(code_of(tone)) + std::string(text).append(kEndOfTone);
}

}  // namespace lockstep::cli
