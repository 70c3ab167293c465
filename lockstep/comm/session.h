// One rank's membership of a run: who it is, its connection to the server, and the communicators it has
// opened.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "lockstep/comm/registry.h"
#include "lockstep/comm/rendezvous/identity.h"
#include "lockstep/comm/rendezvous/meeting_file.h"
#include "lockstep/comm/rendezvous/open_communicators.h"
#include "lockstep/comm/rendezvous/run_client.h"
#include "lockstep/comm/rendezvous/run_server.h"

namespace lockstep::comm {

struct SessionOptions {
  base::Nanoseconds timeout = std::chrono::seconds(300);  // of every operation
  base::Nanoseconds join_timeout = std::chrono::seconds(60);
  // Where rank 0 serves when no launcher does; empty: at the address the ranks were told to meet at.
  std::string listen_address;
  std::string interface;  // the network interface that other hosts are reached by; empty: found out
  // Where ranks that know no key or place keep the file that tells them (the store); empty: such ranks are
  // refused.
  std::filesystem::path meeting_directory;
  std::function<void()> still_wanted = [] {};  // RunClientOptions says what for
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
  // Complete: with the ranks of this host, and the place and key by which this run met.
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
  // The same for a part of a run that another session follows: throws RunEnded instead of printing, and
  // returns when every rank has ended this part, so that the next one may meet at the same place.
  void run_part(const std::function<void(Session&)>& body);
  // Ends the run because of `error`, whatever the body is doing: tells everybody, and calls `leave`, which
  // ends the process, with the exit code. From a thread of its own; returns where the body has failed
  // already.
  void end_run(const base::Error& error, const std::function<void(int)>& leave);

 private:
  void serve();
  void join();
  std::string listen_address() const;
  MeetingPoint find_server();
  void learn_where_everybody_is();
  std::optional<Verdict> carry_out(const std::function<void(Session&)>& body, bool announces);
  std::optional<Verdict> finish(bool announces);
  Verdict fail(const base::Error& error, bool announces);

  Identity identity_;
  const Registry& registry_;
  SessionOptions options_;
  OperationBoards boards_;
  measure::Ledger ledger_;
  OpenCommunicators communicators_;
  std::unique_ptr<MeetingFile> meeting_file_;  // only while the ranks meet through one
  std::unique_ptr<RunServer> server_;          // only on rank 0 without a launcher
  std::mutex failing_;
  std::unique_ptr<RunClient> client_;
};

// The rank that failed says what happened; the others say that they end because of it. Where a launcher
// serves it has heard the verdict itself and speaks for all.
void announce_verdict(const Identity& identity, const Verdict& verdict);

// Joins a run, runs `body` in it and returns the exit code. What goes wrong, in joining too, is printed as
// Session::run() does.
int run_session(const Identity& identity, const Registry& registry, const SessionOptions& options,
                const std::function<void(Session&)>& body);

}  // namespace lockstep::comm
