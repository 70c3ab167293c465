#include "lockstep/launch/output_pump.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "lockstep/base/printable.h"

namespace lockstep::launch {

OutputPump::OutputPump(OutputPumpOptions options)
    : options_(std::move(options)), output_(options_.output_fd), error_(options_.error_fd) {
  for (int rank = 0; rank < options_.workers; ++rank)
    logs_.emplace_back(
        options_.log_directory / fmt::format("rank{}.log", rank),
        [this](const std::string& what) { warn_once(what); }, options_.private_logs);
}

void OutputPump::add_stream(int rank, Channel channel, base::UniqueFd fd) {
  fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  const bool is_result = rank == 0 && channel == Channel::output;
  streams_.push_back({rank, is_result, std::move(fd), {}});
}

void OutputPump::say(std::string_view line) {
  if (options_.quiet) return;
  error_.add(options_.line_lead);
  error_.add(base::printable(line));
  error_.add("\n");
}

void OutputPump::warn_once(const std::string& what) {
  if (!std::exchange(warned_, true)) say("warning: " + what + "; the run goes on without complete logs");
}

void OutputPump::watch(PollSet& polls) {
  output_.watch(polls);
  error_.watch(polls);
  for (Stream& stream : streams_) {
    const Sink& target = stream.is_result ? output_ : error_;
    if (!target.full())
      polls.watch(stream.fd.get(), POLLIN,
                  [this, &stream](short events) { read_from(stream, (events & POLLHUP) != 0); });
  }
}

bool OutputPump::read_from(Stream& stream, bool writers_gone) {
  std::array<char, 64 * 1024> bytes;
  const ssize_t count = read(stream.fd.get(), bytes.data(), bytes.size());
  if (count > 0) {
    deliver(stream, {bytes.data(), static_cast<std::size_t>(count)});
    return true;
  }
  const bool try_again = count < 0 && (errno == EAGAIN || errno == EINTR);
  if (!try_again && writers_gone) end_stream(stream);
  return false;
}

void OutputPump::deliver(Stream& stream, std::string_view bytes) {
  if (stream.is_result && !options_.quiet) output_.add(bytes);
  stream.lines.feed(bytes, [&](std::string_view line) { deliver_line(stream, line); });
  logs_[static_cast<std::size_t>(stream.rank)].flush();
}

void OutputPump::deliver_line(const Stream& stream, std::string_view line) {
  logs_[static_cast<std::size_t>(stream.rank)].add_line(line);
  if (stream.is_result || options_.quiet || is_one_error_too_many(line)) return;
  error_.add(fmt::format("{}[rank{}] ", options_.line_lead, stream.rank));
  error_.add(line);
  error_.add("\n");
}

bool OutputPump::is_one_error_too_many(std::string_view line) {
  return line.starts_with("error: ") && ++errors_ > kMostErrorsShown;
}

void OutputPump::end_stream(Stream& stream) {
  stream.lines.finish([&](std::string_view line) { deliver_line(stream, line); });
  logs_[static_cast<std::size_t>(stream.rank)].flush();
  stream.fd.reset();
}

bool OutputPump::streams_open() const {
  return std::any_of(streams_.begin(), streams_.end(), [](const Stream& stream) { return bool(stream.fd); });
}

void OutputPump::close_streams() {
  constexpr int kMostReads = 64;  // a process that escaped its group may write for ever
  for (Stream& stream : streams_) {
    for (int reads = 0; stream.fd && reads < kMostReads && read_from(stream, true); ++reads) {
    }
    if (stream.fd) end_stream(stream);
  }
  if (errors_ > kMostErrorsShown)
    say(fmt::format("{} more such errors are in the ranks' logs", errors_ - kMostErrorsShown));
}

}  // namespace lockstep::launch
