#include "lockstep/cli/train/overheard_errors.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace lockstep::cli {
namespace {

// As it is; what cannot be written to standard error has nowhere else to go.
void write_on(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace

OverheardErrors::OverheardErrors() : pipe_(launch::make_pipe()) {
  const int fd = pipe_.read_end.get();
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void OverheardErrors::watch(launch::PollSet& polls) {
  polls.watch(pipe_.read_end.get(), POLLIN, [this](short) { pass_on(); });
}

// At the end of the stream the descriptor is closed: it would be ready for ever.
void OverheardErrors::pass_on() {
  std::array<char, 4096> bytes;
  ssize_t count = 0;
  while ((count = ::read(pipe_.read_end.get(), bytes.data(), bytes.size())) > 0) {
    const std::string_view said(bytes.data(), static_cast<std::size_t>(count));
    write_on(said);
    lines_.feed(said, [this](std::string_view line) { hear(line); });
  }
  if (count == 0) pipe_.read_end.reset();
}

void OverheardErrors::finish() {
  if (pipe_.read_end) pass_on();
  lines_.finish([this](std::string_view line) { hear(line); });
}

void OverheardErrors::hear(std::string_view line) {
  constexpr std::string_view kOwn = "error: ", kOfAnother = " ends because of another rank: ";
  if (line.starts_with(kOwn)) cause_ = line.substr(kOwn.size());
  if (const auto at = line.find(kOfAnother); at != std::string_view::npos)
    cause_ = line.substr(at + kOfAnother.size());
}

}  // namespace lockstep::cli
