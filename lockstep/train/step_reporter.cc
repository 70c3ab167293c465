#include "lockstep/train/step_reporter.h"

#include <algorithm>

namespace lockstep::train {
namespace {

using measure::Span;

double seconds_in(const measure::StepSplit& split, Span span) {
  return base::to_seconds(split.spans[static_cast<std::size_t>(span)]);
}

record::SplitSeconds split_seconds(const measure::StepSplit& split) {
  record::SplitSeconds seconds;
  seconds.data = seconds_in(split, Span::data);
  seconds.input = seconds_in(split, Span::input);
  seconds.forward = seconds_in(split, Span::forward);
  seconds.backward = seconds_in(split, Span::backward);
  seconds.exposed_comm = seconds_in(split, Span::exposed_comm);
  seconds.optimizer = seconds_in(split, Span::optimizer);
  seconds.other = base::to_seconds(split.other());
  return seconds;
}

std::map<std::string, double> exposed_by_purpose(const measure::StepSplit& split) {
  std::map<std::string, double> exposed;
  for (int purpose = 0; purpose < measure::kPurposeCount; ++purpose) {
    const base::Nanoseconds time = split.exposed_by_purpose[static_cast<std::size_t>(purpose)];
    if (time.count() > 0)
      exposed[std::string(name_of(static_cast<measure::Purpose>(purpose)))] = base::to_seconds(time);
  }
  return exposed;
}

}  // namespace

StepReporter::StepReporter(const record::RunSpec& spec, const measure::Ledger& ledger, EventLog& events,
                           std::int64_t measure_turn)
    : spec_(spec), ledger_(ledger), events_(events), measure_turn_(measure_turn), before_(ledger.totals()) {}

void StepReporter::ended(StepFacts facts) {
  constexpr std::int64_t kBucketsEvery = 8;  // medians over steps need no more, and a line stays short
  if (first_step_ < 0) first_step_ = facts.step;
  Open open;
  open.event.step = facts.step;
  open.event.epoch = facts.epoch;
  open.event.samples = facts.samples;
  if (facts.step - first_step_ < spec_.skip_steps) open.event.warmup = true;
  if (!facts.buckets.empty() && facts.step % kBucketsEvery == 0)
    open.event.buckets = std::move(facts.buckets);
  open.event.gradient_square_norm = facts.square_norm;
  const bool measured = spec_.measure && measure::measured_in_turn(facts.step, measure_turn_);
  if (measured)
    add_communication(open.event, facts.waited_for_control);
  else if (spec_.measure)
    begin_anew();
  if (measured && !facts.primitive_seconds.empty())
    open.event.primitives_seconds = std::move(facts.primitive_seconds);
  open_.push_back(std::move(open));
}

void StepReporter::add_communication(record::StepEvent& event,
                                     const std::optional<parallel::ControlTime>& waited_for_control) {
  constexpr auto kControl = static_cast<std::size_t>(measure::Purpose::control);
  const measure::LedgerTotals now = ledger_.totals();
  base::Nanoseconds busy = now.busy - before_.busy, peer_wait = now.peer_wait - before_.peer_wait;
  if (waited_for_control) {
    busy += waited_for_control->busy - (now.busy_by_purpose[kControl] - before_.busy_by_purpose[kControl]);
    peer_wait += waited_for_control->peer_wait -
                 (now.peer_wait_by_purpose[kControl] - before_.peer_wait_by_purpose[kControl]);
  }
  event.busy_seconds = base::to_seconds(busy);
  if (now.unknown_peer_waits == before_.unknown_peer_waits)
    event.peer_wait_seconds = base::to_seconds(peer_wait);
  before_ = now;
}

void StepReporter::loss(double value) {
  const auto open = std::find_if(open_.begin(), open_.end(), [](const Open& one) { return !one.has_loss; });
  if (open == open_.end()) return;
  open->event.loss = value;
  open->has_loss = true;
  write_whole_ones();
}

void StepReporter::splits(const std::vector<measure::StepSplit>& splits) {
  for (const measure::StepSplit& split : splits) {
    const auto open = std::find_if(open_.begin(), open_.end(),
                                   [&](const Open& one) { return one.event.step == split.step; });
    if (open == open_.end()) continue;
    add_split(open->event, split);
    open->has_split = true;
    if (spec_.measure && split.divided && !open->event.warmup.value_or(false)) {
      measured_seconds_ += base::to_seconds(split.total);
      other_seconds_ += base::to_seconds(split.other());
    }
  }
  write_whole_ones();
}

void StepReporter::add_split(record::StepEvent& event, const measure::StepSplit& split) const {
  event.seconds = base::to_seconds(split.total);
  if (!spec_.measure || !split.divided) return;
  event.split_seconds = split_seconds(split);
  event.exposed_seconds = event.split_seconds->exposed_comm;
  event.exposed_by_purpose = exposed_by_purpose(split);
}

void StepReporter::write_whole_ones() {
  while (!open_.empty() && open_.front().has_split && open_.front().has_loss) {
    events_.write(std::move(open_.front().event));
    open_.pop_front();
  }
}

std::optional<double> StepReporter::share_of_other() const {
  if (measured_seconds_ <= 0) return std::nullopt;
  return other_seconds_ / measured_seconds_;
}

}  // namespace lockstep::train
