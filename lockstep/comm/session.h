// One rank's membership of a run: who it is, its connection to the server, and the communicators it has
// opened.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lockstep/comm/registry.h"
#include "lockstep/comm/rendezvous/identity.h"
#include "lockstep/comm/rendezvous/run_client.h"
#include "lockstep/comm/rendezvous/run_server.h"

namespace lockstep::comm {

struct SessionOptions {
  base::Nanoseconds timeout = std::chrono::seconds(300);  // of every operation
  base::Nanoseconds join_timeout = std::chrono::seconds(60);
  std::string listen_address;  // where rank 0 serves when no launcher does; empty: loopback, or master_addr's
                               // interface
};

class Session {
 public:
  // Joins the run: rank 0 serves the store itself when no launcher does (LOCKSTEP_SERVER is not set).
  Session(const Identity& identity, const Registry& registry, SessionOptions options);
  ~Session();

  const Group& group() const { return identity_.group; }
  Store& store() { return *client_; }
  measure::Ledger& ledger() { return ledger_; }
  // Collective. Each call opens an independent communicator; `options.channel` must differ between calls.
  std::unique_ptr<Communicator> open(std::string_view backend, OpenOptions options);

  // Runs `body` and ends the membership: goodbye when it returns, a failure report when it throws. Returns
  // the exit code and has printed, once per run, what went wrong.
  int run(const std::function<void(Session&)>& body);

 private:
  Identity identity_;
  const Registry& registry_;
  SessionOptions options_;
  OperationBoards boards_;
  measure::Ledger ledger_;
  std::unique_ptr<RunServer> server_;  // only on rank 0 without a launcher
  std::unique_ptr<RunClient> client_;
};

}  // namespace lockstep::comm
