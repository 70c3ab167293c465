// The run's meeting point, served by the launcher or by rank 0: the store's keys, the membership of ranks,
// and the verdict when something fails. One thread, one epoll loop; strangers are dropped before they can
// cost anything.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lockstep/base/clock.h"
#include "lockstep/base/error.h"
#include "lockstep/comm/rendezvous/key.h"
#include "lockstep/comm/rendezvous/verdict.h"

namespace lockstep::comm {

struct RunServerOptions {
  std::string address = "127.0.0.1";  // where to listen: loopback unless told otherwise
  int port = 0;                       // 0: any free one
  int world = 1;
  std::string key;                                            // make_key() makes one
  base::Nanoseconds join_timeout = std::chrono::seconds(60);  // for all ranks to arrive
  bool ranks_join = true;                                     // false: ranks that never arrive are no failure
  base::Nanoseconds diagnosis_timeout = std::chrono::milliseconds(300);  // for ranks to say where they are
  // A rank that has joined and does not answer for so long, with half a second for the network, is stopped or
  // its host is down: the run ends. 0: nobody is asked.
  base::Nanoseconds silence_timeout{0};
  // Somebody watches the ranks' processes and calls report_exit(): a lost connection then waits a moment (at
  // most 200 ms) for it, to say how the rank ended.
  bool watched = false;

  void validate() const;
};

class ServerLoop;

class RunServer {
 public:
  // Binds and listens at once (throws CommError, e.g. for a port in use, with the next step); serves from
  // start().
  explicit RunServer(const RunServerOptions& options);
  // Stops serving. Ranks that are still connected end.
  ~RunServer();

  int port() const;
  const std::string& address() const;

  // Starts the serving thread. `on_verdict` is called once, on that thread, with the first failure, before
  // the ranks hear of it. A program that forks its ranks does so before this call.
  void start(std::function<void(const Verdict&)> on_verdict);

  // A failure the server cannot see by itself: the launcher saw a rank's process end. `how` continues a
  // sentence that begins with the rank: "was killed by signal 9 (SIGKILL)", "exited with code 3". Returns at
  // once; the verdict follows. Ignored for a rank that has said goodbye, and after the verdict.
  void report_exit(int rank, const std::string& how);
  // Ends every rank with this reason (Ctrl-C, a time limit).
  void end_run(const std::string& reason, base::ExitCode exit_code = base::ExitCode::run_failed);

  std::optional<Verdict> verdict() const;
  // Ranks that said goodbye.
  int finished() const;
  // Waits until every rank has said goodbye or, after a verdict, until none is connected; false at the
  // deadline.
  bool wait_until_left(base::Deadline deadline) const;

 private:
  std::unique_ptr<ServerLoop> loop_;
};

}  // namespace lockstep::comm
