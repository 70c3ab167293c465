// Watches a run from the start of its ranks to their end: carries their output, hears of failures, ends all
// together.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/comm/rendezvous/run_server.h"
#include "lockstep/launch/ending.h"
#include "lockstep/launch/launcher.h"
#include "lockstep/launch/output_pump.h"
#include "lockstep/launch/rank_group.h"
#include "lockstep/launch/signals.h"

namespace lockstep::launch {

// What can be said about a bad exit by itself.
comm::Verdict verdict_about(const RankExit& exit);

// What the supervisor works with; all of it outlives the supervisor.
struct SupervisorParts {
  comm::RunServer& server;
  RankGroup& ranks;
  OutputPump& pump;
  const SignalWatch& signals;
  const WakeUp& wake;  // notified when the server has a verdict
};

class Supervisor {
 public:
  Supervisor(const LaunchOptions& options, const SupervisorParts& parts);

  // Returns when no rank is left and all output is delivered.
  LaunchResult run();

 private:
  // Why a run was ended before its ranks did so by themselves.
  struct Cause {
    enum class Kind { failure, signal, time_limit, output_lost };
    Kind kind;
    comm::Verdict verdict;  // of a failure or a time limit: what to say, and the exit code
    int number = 0;         // the signal, or the error of the output
  };

  void step();
  // There will be none about a rank that fails after every rank has said goodbye.
  bool awaits_verdict() const {
    return first_bad_exit_ && !cause_ && parts_.server.finished() < options_.workers;
  }
  void tick();
  void notice_signals();
  void notice_signal(int signal_number);
  void notice_exits();
  void notice_exit(const RankExit& exit);
  void notice_verdict();
  void notice_stopped();
  void notice_time_limit();
  void notice_lost_output();
  void end_because(Cause cause, base::Nanoseconds moment);
  base::Nanoseconds grace_of(const Cause& cause) const;
  base::Deadline next_deadline() const;

  void deliver_rest_of_output();
  void deliver_own_words();
  void wait_for_output(base::Deadline deadline);

  LaunchResult conclude();
  LaunchFailure failure_for(const Cause& cause) const;
  std::string kind_of(const Cause& cause) const;
  void say_cause(const Cause& cause);
  void say_failure(const comm::Verdict& verdict);
  void say_starter_output();
  int exit_code_for(const Cause& cause) const;
  std::optional<ExitStatus> status_of(int rank) const;
  std::vector<std::string> last_lines_of(int rank) const;
  std::vector<int> collateral_of(int rank) const;
  bool logs_exist() const;

  const LaunchOptions& options_;
  SupervisorParts parts_;
  Ending ending_;
  std::optional<base::Deadline> time_limit_;
  std::map<int, ExitStatus> exits_;
  std::optional<RankExit> first_bad_exit_;
  std::optional<base::Deadline> verdict_due_;     // after a bad exit
  std::map<int, base::TimePoint> stopped_since_;  // by rank
  base::Deadline look_at_stopped_{base::Nanoseconds(0)};
  std::optional<base::Deadline> next_tick_;
  std::optional<Cause> cause_;
  bool interrupted_again_ = false;
};

}  // namespace lockstep::launch
