// Where a run is, in one line, from rank 0's events: epoch, step, loss, samples per second, exposed
// communication, time to go. Pure: the clock is that of the events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lockstep/record/event.h"
#include "lockstep/record/spec.h"

namespace lockstep::cli {

class LiveStatus {
 public:
  // `samples_per_epoch` where it is known before the first epoch has ended.
  LiveStatus(const record::RunSpec& spec, std::optional<std::int64_t> samples_per_epoch);

  void take(const record::Event& event);
  // "epoch 2/5  step 1200/4690  loss 0.412  21,300 samples/s  exposed 3.1 %  43s to go".
  std::string text() const;

 private:
  void take_step(double time, const record::StepEvent& step);
  void take_epoch(const record::EpochEvent& epoch);
  std::int64_t epoch() const;
  std::optional<std::int64_t> total_steps() const;
  std::optional<double> seconds_to_go() const;
  std::string quality_text() const;
  std::string speed_text() const;

  std::int64_t global_batch_;
  bool several_;  // processes: rank 0's own figures are not the run's
  std::optional<std::int64_t> epochs_, steps_;
  std::optional<double> max_seconds_;
  std::optional<std::int64_t> steps_per_epoch_;
  std::int64_t epochs_done_ = 0;
  bool in_epoch_ = false;  // a step has come since the last epoch's end
  std::optional<record::StepEvent> last_;
  double first_time_ = 0, last_time_ = 0;
  std::int64_t first_step_ = 0;
  std::optional<double> steps_per_second_;  // smoothed
  record::QualityFigures quality_;
  bool of_one_rank_ = false;  // the quality is that of rank 0's samples
  std::string ending_;        // "finished", "failed: ..."
};

// "45s", "3m 20s", "2h 05m".
std::string format_time_to_go(double seconds);
// "21,300".
std::string with_commas(std::uint64_t number);
// To the nearest whole number, as every output rounds what is counted per second.
std::string rounded_with_commas(double number);

}  // namespace lockstep::cli
