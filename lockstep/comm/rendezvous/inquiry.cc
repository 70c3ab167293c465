#include "lockstep/comm/rendezvous/inquiry.h"

#include <algorithm>

namespace lockstep::comm {

using Kind = base::CommError::Kind;

Inquiry::Inquiry(const InquiryOptions& options) : options_(options) {
  evidence_.ranks.resize(static_cast<std::size_t>(options.world));
}

void Inquiry::answered(int rank, const OperationStatus& position) {
  // A report's own position is the better one: it is from the moment of the failure.
  if (!of(rank).position) of(rank).position = position;
}

void Inquiry::reported(int rank, const FailureReport& report, base::TimePoint at) {
  begin(at);
  RankEvidence& mine = of(rank);
  // A rank's second word, after a timeout that was found from outside, adds nothing.
  if (mine.report) return;
  mine.report = report;
  mine.report_order = next_order_++;
  mine.position = report.position;
}

void Inquiry::ended(int rank, const std::string& how, base::TimePoint at) {
  begin(at);
  if (!of(rank).exit) of(rank).exit = how;
  gone(rank, at);
}

void Inquiry::lost(int rank, base::TimePoint at) {
  begin(at);
  gone(rank, at);
}

void Inquiry::silent(int rank, base::Nanoseconds how_long, base::TimePoint at) {
  begin(at);
  if (!of(rank).silent) of(rank).silent = how_long;
}

bool Inquiry::kept_silent(int rank) const {
  const RankEvidence& mine = evidence_.ranks[static_cast<std::size_t>(rank)];
  return mine.silent || (answers_matter() && mine.asked && !mine.position);
}

void Inquiry::end_asked(const EndRequest& request, base::TimePoint at) {
  begin(at);
  if (!evidence_.end) evidence_.end = request;
}

void Inquiry::begin(base::TimePoint at) {
  if (!begun_at_) begun_at_ = at;
}

void Inquiry::gone(int rank, base::TimePoint at) {
  of(rank).asked = false;
  if (of(rank).gone_order >= 0) return;
  of(rank).gone_order = next_order_++;
  if (!gone_at_) gone_at_ = at;
}

std::optional<base::TimePoint> Inquiry::due_at() const {
  if (!begun_at_ || evidence_.end) return begun_at_;
  base::TimePoint due = *begun_at_;
  if (answers_matter() && !answers_are_out()) due = std::max(due, *begun_at_ + options_.diagnosis_timeout);
  if (better_story_may_come()) due = std::max(due, gone_at_.value_or(*begun_at_) + options_.story_timeout);
  return due;
}

// Where the others are says nothing about a rank's own error.
bool Inquiry::answers_matter() const {
  const auto culprit = first_culprit(evidence_);
  if (!culprit) return true;
  const auto& report = evidence_.ranks[static_cast<std::size_t>(*culprit)].report;
  return !report || report->kind == Kind::disagreement;
}

bool Inquiry::answers_are_out() const {
  return std::none_of(evidence_.ranks.begin(), evidence_.ranks.end(), [](const RankEvidence& rank) {
    return rank.asked && !rank.finished && !rank.position;
  });
}

bool Inquiry::better_story_may_come() const {
  const auto culprit = first_culprit(evidence_);
  if (!culprit) return !first_report(evidence_, Kind::timed_out).has_value();
  const RankEvidence& rank = evidence_.ranks[static_cast<std::size_t>(*culprit)];
  return options_.watched && !rank.report && !rank.exit;
}

}  // namespace lockstep::comm
