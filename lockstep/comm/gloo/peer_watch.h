// Watches the connections of a gloo context for peers that close them.
//
// gloo notices a closed connection, but tells only operations that have not begun to move: a message cut in
// the middle would wait for its whole timeout. The watch is one thread that sleeps in poll() until a peer
// closes, lets gloo read what had arrived before, and then reports the peer as lost.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "lockstep/base/unique_fd.h"

namespace lockstep::comm {

class PeerWatch {
 public:
  // `connections` by rank, this rank's own empty. `on_lost` is called on the watch's thread.
  PeerWatch(std::vector<base::UniqueFd> connections, std::function<void(int peer)> on_lost);
  ~PeerWatch();

  // From any thread: closes all connections for both sides, so that peers notice too.
  void shut_down() noexcept;

 private:
  void serve();
  // Returns when gloo has read all that came before the end, or the watch is to stop.
  void let_gloo_finish(int socket) const;
  bool stopping(int wait_milliseconds) const;

  std::vector<base::UniqueFd> connections_;
  std::function<void(int)> on_lost_;
  base::UniqueFd stop_;
  std::thread thread_;
};

}  // namespace lockstep::comm
