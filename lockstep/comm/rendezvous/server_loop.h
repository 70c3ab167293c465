// The server's thread: one epoll loop over the listening socket, the gate's strangers and the ranks'
// connections. Ranks are served before strangers are looked at, and of those only a few a round.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "lockstep/comm/rendezvous/assembly.h"
#include "lockstep/comm/rendezvous/gate.h"
#include "lockstep/comm/rendezvous/socket.h"

struct epoll_event;

namespace lockstep::comm {

class ServerLoop : private Postman {
 public:
  explicit ServerLoop(const RunServerOptions& options);
  ~ServerLoop() override;

  const Endpoint& endpoint() const { return endpoint_; }
  void start(std::function<void(const Verdict&)> on_verdict);

  // From any thread, also before start(): runs `command` on the serving thread.
  using Command = std::function<void(Assembly&)>;
  void post(Command command);

  Standing standing() const;
  bool wait_until_left(base::Deadline deadline) const;

 private:
  // A connection that has proved that it holds the key.
  struct Connection {
    base::UniqueFd fd;
    FrameReader reader;
    std::string outbox;
    bool dismissed = false;
  };

  void send(int connection, const Frame& frame) override;
  void dismiss(int connection) override;

  void serve();
  void serve_round();
  int wait_milliseconds() const;
  void run_commands();
  void accept_strangers();
  void look_at_stranger(int fd);
  void read_from(int id);
  void handle_frames(int id, Connection& connection);
  void write_to(int id);
  void close_later(int id) { to_close_.push_back(id); }
  void close_marked();
  void watch(int fd, std::uint64_t key, std::uint32_t events, bool is_new);
  void publish();

  const RunServerOptions options_;
  base::UniqueFd listener_;
  Endpoint endpoint_;
  base::UniqueFd wake_;   // an eventfd
  base::UniqueFd epoll_;  // made by start(): forked children must not share it

  // Touched by the serving thread only.
  Gate gate_;
  std::unordered_map<int, Connection> connections_;
  int next_id_ = 1;
  std::vector<int> to_close_;
  std::optional<base::TimePoint> accept_again_at_;
  std::unique_ptr<Assembly> assembly_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<Command> commands_;
  Standing standing_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace lockstep::comm
