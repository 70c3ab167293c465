// One rank's membership of a run: who it is, its connection to the server, and the communicators it has
// opened.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lockstep/comm/registry.h"
#include "lockstep/comm/rendezvous/identity.h"
#include "lockstep/comm/rendezvous/meeting_place.h"
#include "lockstep/comm/rendezvous/open_communicators.h"
#include "lockstep/comm/rendezvous/run_client.h"
#include "lockstep/comm/rendezvous/run_server.h"

namespace lockstep::comm {

struct SessionOptions {
  base::Nanoseconds timeout = std::chrono::seconds(300);  // of every operation
  base::Nanoseconds join_timeout = std::chrono::seconds(60);
  // Where rank 0 serves when no launcher does; empty: at the address the ranks were told to meet at.
  std::string listen_address;
  // How long rank 0 goes on serving after its own part: for the others to finish, and for them to hear of a
  // failure.
  base::Nanoseconds linger = std::chrono::minutes(10);
  base::Nanoseconds linger_after_failure = std::chrono::seconds(3);
};

class Session {
 public:
  // Joins the run: rank 0 serves the store itself when no launcher does. Throws as RunClient does.
  Session(const Identity& identity, const Registry& registry, const SessionOptions& options);
  ~Session();

  const Group& group() const { return identity_.group; }
  const Identity& identity() const { return identity_; }
  Store& store() { return *client_; }
  measure::Ledger& ledger() { return ledger_; }
  OperationBoards& boards() { return boards_; }
  // Collective. Each call opens an independent communicator; `options.channel` must differ between calls. The
  // session's timeout holds where the options leave theirs at the default. Destroy it before the session.
  std::unique_ptr<Communicator> open(std::string_view backend, OpenOptions options);
  // Makes a communicator that was opened otherwise end with the run.
  std::unique_ptr<Communicator> track(std::unique_ptr<Communicator> opened);

  // Runs `body` and ends the membership: goodbye when it returns, a failure report when it throws. Returns
  // the exit code and has printed what went wrong, unless a launcher does that for the whole run.
  int run(const std::function<void(Session&)>& body);

 private:
  void serve();
  void join();
  void find_local_ranks();
  int finish();
  int fail(const base::Error& error);

  Identity identity_;
  const Registry& registry_;
  SessionOptions options_;
  OperationBoards boards_;
  measure::Ledger ledger_;
  OpenCommunicators communicators_;
  std::unique_ptr<MeetingFile> meeting_file_;  // only while the ranks meet through one
  std::unique_ptr<RunServer> server_;          // only on rank 0 without a launcher
  std::unique_ptr<RunClient> client_;
};

// Joins a run, runs `body` in it and returns the exit code. What goes wrong, in joining too, is printed as
// Session::run() does.
int run_session(const Identity& identity, const Registry& registry, const SessionOptions& options,
                const std::function<void(Session&)>& body);

}  // namespace lockstep::comm
