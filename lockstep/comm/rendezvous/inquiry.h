// Gathers evidence after a failure and says when there is enough of it. The first word about a failure is
// often a victim's: it lost a peer, or waited in vain. So the inquiry asks every rank where it is and gives
// the truth a short moment to arrive. Holds no socket and no clock: times are handed in.
#pragma once

#include <optional>
#include <string>

#include "lockstep/base/clock.h"
#include "lockstep/comm/rendezvous/verdict.h"

namespace lockstep::comm {

struct InquiryOptions {
  int world = 1;
  base::Nanoseconds diagnosis_timeout = std::chrono::milliseconds(300);  // for ranks to say where they are
  base::Nanoseconds story_timeout = std::chrono::milliseconds(200);      // for a better story than a victim's
  bool watched = false;  // somebody watches the ranks' processes and will tell how one ended
};

class Inquiry {
 public:
  explicit Inquiry(const InquiryOptions& options);

  // Facts that are no failure.
  void arrived(int rank) { of(rank).arrived = true; }
  void finished(int rank) { of(rank).finished = true; }
  bool has_finished(int rank) const { return evidence_.ranks[static_cast<std::size_t>(rank)].finished; }
  void asked(int rank) { of(rank).asked = true; }
  void answered(int rank, const OperationStatus& position);

  // Failures: each begins the inquiry if none has begun.
  void reported(int rank, const FailureReport& report, base::TimePoint at);
  void ended(int rank, const std::string& how, base::TimePoint at);
  void lost(int rank, base::TimePoint at);
  void silent(int rank, base::Nanoseconds how_long, base::TimePoint at);
  // Once the verdict has fallen: whether it was asked in vain, or nothing had been heard of it for long.
  // Nobody need wait for it.
  bool kept_silent(int rank) const;
  void end_asked(const EndRequest& request, base::TimePoint at);

  bool begun() const { return begun_at_.has_value(); }
  // When the verdict falls: in the past once there is enough evidence, else the moment at which waiting ends.
  // Nothing before it has begun.
  std::optional<base::TimePoint> due_at() const;

  const Evidence& evidence() const { return evidence_; }

 private:
  RankEvidence& of(int rank) { return evidence_.ranks[static_cast<std::size_t>(rank)]; }
  void begin(base::TimePoint at);
  void gone(int rank, base::TimePoint at);
  bool answers_matter() const;
  bool answers_are_out() const;
  bool better_story_may_come() const;

  InquiryOptions options_;
  Evidence evidence_;
  int next_order_ = 0;
  std::optional<base::TimePoint> begun_at_;
  std::optional<base::TimePoint> gone_at_;  // the first rank that is gone
};

}  // namespace lockstep::comm
