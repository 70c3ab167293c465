// The run's meeting point, served by the launcher or by rank 0: the store's keys, the membership of ranks,
// and the verdict when something fails. One thread, one epoll loop; strangers are dropped before they can
// cost anything.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/clock.h"
#include "lockstep/base/error.h"

namespace lockstep::comm {

struct RunServerOptions {
  std::string address = "127.0.0.1";  // where to listen: loopback unless told otherwise
  int port = 0;                       // 0: any free one
  int world = 1;
  std::string token;                                          // hexadecimal; make_token() makes one
  base::Nanoseconds join_timeout = std::chrono::seconds(60);  // for all ranks to arrive
  base::Nanoseconds diagnosis_timeout = std::chrono::milliseconds(300);  // for ranks to say where they are
};

// Why a run ended, decided once, by the first failure that reached the server.
struct Verdict {
  int rank = -1;  // the first failing rank; -1 when none can be named
  base::CommError::Kind kind = base::CommError::Kind::failed;
  base::ExitCode exit_code = base::ExitCode::run_failed;
  std::string message;  // names rank, operation, likely cause; one paragraph
};

class RunServer {
 public:
  // Binds and listens at once (throws CommError, e.g. for a port in use, with the next step); serves from
  // start().
  explicit RunServer(RunServerOptions options);
  ~RunServer();

  int port() const;
  const std::string& address() const;

  // Starts the serving thread. `on_verdict` is called once, on that thread, with the first failure. A program
  // that forks its ranks does so before this call.
  void start(std::function<void(const Verdict&)> on_verdict);

  // A failure the server cannot see by itself: the launcher saw a rank's process end. Ask survivors where
  // they are, decide the verdict if there is none yet, tell all ranks.
  void report_exit(int rank, const std::string& how);
  // Ends every rank with this reason (Ctrl-C, a time limit).
  void end_run(const std::string& reason);

  std::optional<Verdict> verdict() const;
  // Ranks that said goodbye.
  int finished() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

// 128 random bits as hexadecimal.
std::string make_token();

}  // namespace lockstep::comm
