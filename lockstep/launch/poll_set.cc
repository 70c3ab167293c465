#include "lockstep/launch/poll_set.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "lockstep/base/error.h"

namespace lockstep::launch {

void PollSet::watch(int fd, short events, Action action) {
  if (fd < 0) return;
  entries_.push_back({fd, events, 0});
  actions_.push_back(std::move(action));
}

void PollSet::wait(base::Deadline deadline) {
  if (poll(entries_.data(), entries_.size(), deadline.left_milliseconds()) <= 0) return;
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (entries_[i].revents != 0) actions_[i](entries_[i].revents);
}

WakeUp::WakeUp() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) throw base::ConfigError("cannot make an event descriptor: " + base::errno_text());
}

WakeUp::~WakeUp() {
  close(fd_);
}

void WakeUp::notify() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = write(fd_, &one, sizeof one);
}

void WakeUp::watch(PollSet& polls) const {
  polls.watch(fd_, POLLIN, [fd = fd_](short) {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t ignored = read(fd, &count, sizeof count);
  });
}

}  // namespace lockstep::launch
