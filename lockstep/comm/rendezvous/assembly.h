// The run as the server sees it: which ranks have arrived, the store's keys, and the inquiry when something
// fails. Knows connections only by number; the loop carries its messages. Used by one thread; times are
// handed in.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lockstep/comm/rendezvous/inquiry.h"
#include "lockstep/comm/rendezvous/key_table.h"
#include "lockstep/comm/rendezvous/messages.h"
#include "lockstep/comm/rendezvous/run_server.h"

namespace lockstep::comm {

// Carries the assembly's messages to connections.
class Postman {
 public:
  virtual ~Postman() = default;
  virtual void send(int connection, const Frame& frame) = 0;
  // Closes the connection once what was sent has gone out.
  virtual void dismiss(int connection) = 0;
};

// How the run stands, for other threads.
struct Standing {
  std::optional<Verdict> verdict;
  int finished = 0;  // ranks that said goodbye
  int present = 0;   // ranks that are connected, have not said goodbye and answer
};

class Assembly {
 public:
  Assembly(const RunServerOptions& options, Postman& postman, std::function<void(const Verdict&)> on_verdict,
           base::TimePoint now);

  // A rank has called and proved that it holds the key.
  void greet(int connection, const Hello& hello);
  // A frame from it. Throws ProtocolError for one that makes no sense.
  void handle(int connection, const Frame& frame, base::TimePoint now);
  void closed(int connection, base::TimePoint now);
  void exited(int rank, const std::string& how, base::TimePoint now);
  void end_asked(const EndRequest& request, base::TimePoint now);

  // Does what is due: ends waits for keys, the wait for ranks, the inquiry.
  void tick(base::TimePoint now);
  std::optional<base::TimePoint> next_deadline() const;

  // Who was not let in, for the verdict on ranks that do not arrive.
  void turned_away(const std::string& whom) { turned_away_ = whom; }

  Standing standing() const;

 private:
  std::string objection_to(const Hello& hello) const;
  void handle_member(int connection, int rank, const Frame& frame, base::TimePoint now);
  void handle_set(int connection, const Frame& frame);
  void handle_get(int connection, const Frame& frame, base::TimePoint now);
  void handle_add(int connection, const Frame& frame);
  void store(const std::string& key, const std::string& value);
  void say_goodbye(int connection, int rank, const Frame& frame);
  void ask_everyone();
  void feel_pulses(base::TimePoint now);
  void conclude(Verdict verdict);
  void reply(int connection, std::uint32_t request, std::string body);
  bool complete() const { return arrived_ == options_.world; }
  bool awaits_ranks() const { return options_.ranks_join && !complete(); }

  const RunServerOptions options_;
  Postman& postman_;
  std::function<void(const Verdict&)> on_verdict_;
  base::TimePoint join_until_;
  std::vector<std::optional<Hello>> hellos_;  // by rank: what it said when it arrived
  std::unordered_map<int, int> rank_of_;      // by connection
  int arrived_ = 0;
  int finished_ = 0;
  KeyTable keys_;
  Inquiry inquiry_;
  bool everyone_asked_ = false;
  // The heartbeat: since when each rank owes an answer, when all are asked next, and when this was last seen
  // to.
  std::vector<std::optional<base::TimePoint>> unanswered_since_;
  const base::Nanoseconds pulse_;
  base::TimePoint pulses_due_;
  base::TimePoint pulses_felt_;
  std::optional<Verdict> verdict_;
  std::string turned_away_;
};

}  // namespace lockstep::comm
