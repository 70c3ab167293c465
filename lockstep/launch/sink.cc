#include "lockstep/launch/sink.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace lockstep::launch {

void Sink::add(std::string_view bytes) {
  if (error_number_ == 0) pending_.append(bytes);
}

void Sink::watch(PollSet& polls) {
  if (!empty()) polls.watch(fd_, POLLOUT, [this](short) { write_some(); });
}

// A pipe that is ready takes PIPE_BUF bytes without blocking, and whole: so no more, and up to the end of a
// line, that lines of others who write there do not fall into ours.
std::size_t Sink::next_bytes() const {
  const std::size_t most = std::min<std::size_t>(pending_.size() - written_, PIPE_BUF);
  const std::size_t line_end = std::string_view(pending_).substr(written_, most).rfind('\n');
  return line_end == std::string_view::npos ? most : line_end + 1;
}

void Sink::write_some() {
  const ssize_t count = write(fd_, pending_.data() + written_, next_bytes());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count < 0) error_number_ = errno;
  if (count > 0) written_ += static_cast<std::size_t>(count);
  if (count < 0 || empty()) {
    pending_.clear();
    written_ = 0;
  }
}

}  // namespace lockstep::launch
