// Turns what is known about steps into their events. The parts of a step's figures arrive at different times
// (its loss may come a step later, a GPU's spans several); events are written in the order of the steps, each
// when it is whole.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/measure/ledger.h"
#include "lockstep/measure/step_timer.h"
#include "lockstep/parallel/strategy.h"
#include "lockstep/record/event.h"
#include "lockstep/record/spec.h"
#include "lockstep/train/event_log.h"

namespace lockstep::train {

// What is known when a step has ended.
struct StepFacts {
  std::int64_t step = 0;
  std::int64_t epoch = 0;
  std::int64_t samples = 0;
  std::vector<record::BucketTimes> buckets;
  std::optional<record::SquareNorm> square_norm;
  std::map<std::string, double> primitive_seconds;  // dp; else empty
  // Of a negotiation in the background, what the step waited for; nothing where control messages are the
  // step's own.
  std::optional<parallel::ControlTime> waited_for_control = {};
};

class StepReporter {
 public:
  StepReporter(const record::RunSpec& spec, const measure::Ledger& ledger, EventLog& events,
               std::int64_t measure_turn = 0);

  // A step begins after something else was sent (an epoch's end, a checkpoint): that is not the step's.
  void begin_anew() { before_ = ledger_.totals(); }
  void ended(StepFacts facts);
  // Of the first step whose loss is not known yet.
  void loss(double value);
  void splits(const std::vector<measure::StepSplit>& splits);
  // How much of the measured steps' time no span covered; nothing when splits are not measured.
  std::optional<double> share_of_other() const;

 private:
  struct Open {
    record::StepEvent event;
    bool has_split = false;
    bool has_loss = false;
  };
  void add_split(record::StepEvent& event, const measure::StepSplit& split) const;
  void add_communication(record::StepEvent& event,
                         const std::optional<parallel::ControlTime>& waited_for_control);
  void write_whole_ones();

  const record::RunSpec& spec_;
  const measure::Ledger& ledger_;
  EventLog& events_;
  const std::int64_t measure_turn_;
  measure::LedgerTotals before_;
  std::int64_t first_step_ = -1;
  std::deque<Open> open_;
  double measured_seconds_ = 0;
  double other_seconds_ = 0;
};

}  // namespace lockstep::train
