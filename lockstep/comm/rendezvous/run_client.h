// A rank's connection to the run's server: the store, and a control thread that answers "where are you?",
// hears of other ranks' failures and ends operations that outlive their deadline inside a library.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/comm/operation_board.h"
#include "lockstep/comm/rendezvous/meeting_file.h"
#include "lockstep/comm/rendezvous/socket.h"
#include "lockstep/comm/rendezvous/store.h"
#include "lockstep/comm/rendezvous/verdict.h"

namespace lockstep::comm {

// For a worker that is started as a program: the join timeout in seconds, and the network interface by which
// other hosts are reached.
inline constexpr const char* kJoinTimeoutVariable = "LOCKSTEP_JOIN_TIMEOUT";
inline constexpr const char* kInterfaceVariable = "LOCKSTEP_INTERFACE";

struct RunClientOptions {
  std::string address;
  int port = 0;
  int rank = 0;
  int world = 1;
  std::string key;
  std::string host;  // what tells this rank's host from others
  base::Nanoseconds join_timeout = std::chrono::seconds(60);
  base::Nanoseconds request_timeout = std::chrono::seconds(30);  // for the server to answer set() and add()
  base::Nanoseconds report_timeout = std::chrono::seconds(2);    // for the verdict on a reported failure
  // Where rank 0 serves the run: it asks every rank once a second how it is, and so was stopped where it goes
  // after it has said nothing for so long. Zero: a launcher serves.
  base::Nanoseconds silence_timeout{0};

  // Asked before every attempt to connect instead of `address`, `port` and `key`, where ranks find these in a
  // meeting file. `find_server_in` names it in errors.
  std::function<MeetingPoint()> find_server;
  std::string find_server_in;

  // Asked now and then until every rank has arrived: throws when this rank is not to wait any longer. The
  // others hear why, as of a failure.
  std::function<void()> still_wanted = [] {};

  // How long the control thread waits for the rest of the process before it ends the process with _exit.
  base::Nanoseconds overdue_grace = std::chrono::seconds(1);  // past an operation's deadline, twice
  base::Nanoseconds verdict_grace = std::chrono::seconds(1);  // after a verdict
  base::Nanoseconds orphan_grace = std::chrono::seconds(2);   // after the server is gone
  // Called by the control thread directly before it ends the process.
  std::function<void(const Verdict&)> last_words;
};

class ClientLink;

class RunClient : public Store {
 public:
  // Connects (trying again while the server may still be starting) and waits until every rank has arrived.
  // Throws RunEnded that names the missing ranks at the join timeout, CommError when no server answers or it
  // does not hold this rank's key, ConfigError when it refuses this rank or world or speaks another version.
  // `boards` must outlive the client.
  RunClient(const RunClientOptions& options, const OperationBoards& boards);
  // Without goodbye() before it, the server takes this rank for lost.
  ~RunClient() override;

  // Of every rank, by rank, and where the server was found.
  const std::vector<std::string>& hosts() const;
  const MeetingPoint& met_at() const;

  // The store. From any thread. After a verdict each throws RunEnded.
  void set(const std::string& key, const std::string& value) override;
  std::string get(const std::string& key, base::Deadline deadline) override;
  std::int64_t add(const std::string& key, std::int64_t amount) override;

  // `action` is called once, on the control thread, with the verdict's message when the run ends by
  // somebody's failure: it must abort the rank's communicators. Called at once if that has happened already.
  void on_abort(std::function<void(const std::string& reason)> action);

  // Tells the server that this rank failed; returns the verdict, which may blame another rank. From now on
  // the process is taken to be ending by itself.
  Verdict report_failure(const base::Error& error);
  // Says that this rank is done; later loss of the connection is no failure.
  void goodbye();
  // After goodbye(): waits until the server has hung up, as it does when every rank has said goodbye.
  void wait_until_closed(base::Deadline deadline);
  // The verdict, if this rank has heard of one.
  std::optional<Verdict> verdict() const;

 private:
  std::unique_ptr<ClientLink> link_;
};

}  // namespace lockstep::comm
