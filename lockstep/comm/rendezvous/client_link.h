// The client's half of the connection: requests from any thread, and the control thread that reads the
// server's frames and watches the clock. The main thread may be stuck in a library at any time, so what must
// happen anyway - saying where the rank is, aborting, in the end leaving - happens on the control thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lockstep/comm/rendezvous/joining.h"
#include "lockstep/comm/rendezvous/messages.h"

namespace lockstep::comm {

class ClientLink {
 public:
  ClientLink(Joined joined, const RunClientOptions& options, const OperationBoards& boards);
  ~ClientLink();

  int rank() const { return options_.rank; }
  // Once welcomed.
  const std::vector<std::string>& hosts() const { return hosts_; }
  const MeetingPoint& met_at() const { return met_at_; }
  base::Deadline soon() const { return base::Deadline(options_.request_timeout); }
  OperationStatus position() const { return boards_.status(); }

  void wait_for_welcome(base::Deadline deadline, const std::function<void()>& still_wanted);
  // Sends a request and returns the reply's body. `what` names it in errors.
  std::string request(MessageType type, std::string body, base::Deadline deadline, const std::string& what);
  void on_abort(std::function<void(const std::string&)> action);
  Verdict report(const FailureReport& report);
  void goodbye();
  void wait_until_closed(base::Deadline deadline);
  std::optional<Verdict> verdict() const;

 private:
  // When and why the control thread ends the process.
  struct Sentence {
    base::TimePoint at;
    Verdict verdict;
    bool only_while_overdue = false;
  };

  bool send(const Frame& frame);

  // On the control thread.
  void control();
  void read_frames();
  void handle(const Frame& frame);
  void run_has_ended(const Verdict& verdict, base::Nanoseconds grace);
  void server_is_gone();
  Verdict verdict_without_server() const;
  void watch_operations();
  void carry_out();
  bool main_is_leaving() const;

  const RunClientOptions options_;
  const OperationBoards& boards_;
  const MeetingPoint met_at_;
  base::UniqueFd fd_;
  base::UniqueFd wake_;  // an eventfd: ends the control thread

  // The control thread's own.
  FrameReader reader_;
  std::optional<Sentence> sentence_;
  base::TimePoint looked_ = base::now();  // at the connection, and when the server last said anything
  base::TimePoint heard_ = looked_;
  bool connected_ = true;
  bool reported_overdue_ = false;

  std::mutex send_mutex_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  bool leaving_ = false;  // the main thread has said that it fails or is done
  bool welcomed_ = false;
  bool server_gone_ = false;
  std::vector<std::string> hosts_;
  std::optional<Verdict> verdict_;
  std::uint32_t next_request_ = 1;
  std::map<std::uint32_t, std::optional<std::string>> replies_;  // by request; nothing: not come yet
  std::function<void(const std::string&)> abort_action_;
  std::optional<std::string> aborted_because_;
  std::thread thread_;
};

}  // namespace lockstep::comm
