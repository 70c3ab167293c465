// A rank's connection to the run's server: the store, and a control thread that answers "where are you?",
// hears of other ranks' failures and ends operations that outlive their deadline inside a library.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lockstep/base/error.h"
#include "lockstep/comm/operation_board.h"
#include "lockstep/comm/rendezvous/store.h"

namespace lockstep::comm {

struct RunClientOptions {
  std::string address;
  int port = 0;
  int rank = 0;
  int world = 1;
  std::string token;
  base::Nanoseconds join_timeout = std::chrono::seconds(60);
};

class RunClient : public Store {
 public:
  // Connects (trying again while the server may still be starting) and waits until every rank has arrived.
  // Throws CommError that names the missing ranks at the join timeout, or says that the token was refused.
  RunClient(const RunClientOptions& options, const OperationBoards& boards);
  ~RunClient() override;

  void set(const std::string& key, const std::string& value) override;
  std::string get(const std::string& key, base::Deadline deadline) override;
  std::int64_t add(const std::string& key, std::int64_t amount) override;

  // `action` is called once, on the control thread, with the verdict's message when the run ends by
  // somebody's failure: it must abort the rank's communicators. Called at once if that has happened already.
  void on_abort(std::function<void(const std::string& reason)> action);

  // Tells the server that this rank failed; returns the verdict's message, which may blame another rank.
  std::string report_failure(const base::Error& error);
  // Says that this rank is done; later loss of the connection is no failure.
  void goodbye();

 private:
  class Link;
  std::unique_ptr<Link> link_;
};

}  // namespace lockstep::comm
