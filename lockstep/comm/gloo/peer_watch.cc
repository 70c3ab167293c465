#include "lockstep/comm/gloo/peer_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "lockstep/base/clock.h"
#include "lockstep/comm/gloo/connections.h"

namespace lockstep::comm {
namespace {

constexpr int kGraceMilliseconds = 20;  // for gloo's thread to hand over what it has read
constexpr base::Nanoseconds kMostDraining = std::chrono::seconds(1);

}  // namespace

PeerWatch::PeerWatch(std::vector<base::UniqueFd> connections, std::function<void(int)> on_lost)
    : connections_(std::move(connections)),
      on_lost_(std::move(on_lost)),
      stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { serve(); }) {}

PeerWatch::~PeerWatch() {
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

void PeerWatch::shut_down() noexcept {
  for (const base::UniqueFd& connection : connections_)
    if (connection) ::shutdown(connection.get(), SHUT_RDWR);
}

void PeerWatch::serve() {
  // poll() skips entries with a negative descriptor: peers that are lost, and this rank itself.
  std::vector<pollfd> watched;
  for (const base::UniqueFd& connection : connections_) watched.push_back({connection.get(), POLLRDHUP, 0});
  watched.push_back({stop_.get(), POLLIN, 0});
  while (::poll(watched.data(), watched.size(), -1) > 0 || errno == EINTR) {
    if (watched.back().revents != 0) return;
    for (std::size_t peer = 0; peer + 1 < watched.size(); ++peer) {
      if (watched[peer].fd < 0 || watched[peer].revents == 0) continue;
      let_gloo_finish(watched[peer].fd);
      watched[peer].fd = -1;
      on_lost_(static_cast<int>(peer));
    }
  }
}

void PeerWatch::let_gloo_finish(int socket) const {
  const base::Deadline deadline(kMostDraining);
  while (unread_bytes(socket) > 0 && !deadline.passed() && !stopping(1)) {
  }
  stopping(kGraceMilliseconds);
}

bool PeerWatch::stopping(int wait_milliseconds) const {
  pollfd stop{stop_.get(), POLLIN, 0};
  return ::poll(&stop, 1, wait_milliseconds) > 0;
}

}  // namespace lockstep::comm
