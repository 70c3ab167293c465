#include "lockstep/cli/train/live_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lockstep/record/catalogue_resolve.h"

namespace lockstep::cli {
namespace {

std::string of_total(std::int64_t done, std::optional<std::int64_t> total) {
  return total ? fmt::format("{}/{}", done, *total) : std::to_string(done);
}

}  // namespace

LiveStatus::LiveStatus(const record::RunSpec& spec, std::optional<std::int64_t> samples_per_epoch)
    : global_batch_(record::batch_sizes(spec).global),
      several_(record::processes_of(spec) > 1),
      epochs_(spec.epochs),
      steps_(spec.steps) {
  if (spec.max_time) max_seconds_ = spec.max_time->count;
  if (samples_per_epoch) steps_per_epoch_ = (*samples_per_epoch + global_batch_ - 1) / global_batch_;
}

void LiveStatus::take(const record::Event& event) {
  if (const auto* step = std::get_if<record::StepEvent>(&event.body)) take_step(event.time, *step);
  if (const auto* epoch = std::get_if<record::EpochEvent>(&event.body)) take_epoch(*epoch);
  if (std::get_if<record::FinishedEvent>(&event.body) != nullptr) ending_ = "finished";
  if (const auto* failed = std::get_if<record::FailedEvent>(&event.body)) ending_ = failed->kind;
}

void LiveStatus::take_step(double time, const record::StepEvent& step) {
  constexpr double kWeight = 0.2;  // of the newest moment
  if (last_ && time > last_time_ && step.step > last_->step) {
    const double rate = static_cast<double>(step.step - last_->step) / (time - last_time_);
    steps_per_second_ = steps_per_second_ ? *steps_per_second_ * (1 - kWeight) + rate * kWeight : rate;
  }
  if (!last_) {
    first_time_ = time;
    first_step_ = step.step;
  }
  last_ = step;
  last_time_ = time;
  in_epoch_ = true;
}

// What the first epoch took is better than what a catalogue says.
void LiveStatus::take_epoch(const record::EpochEvent& epoch) {
  epochs_done_ = epoch.epoch;
  in_epoch_ = false;
  quality_ = epoch.all_ranks.value_or(record::QualityFigures{epoch.val_loss, epoch.val_accuracy, {}});
  of_one_rank_ = several_ && !epoch.all_ranks;
  if (last_ && epoch.epoch == 1 && first_step_ == 0) steps_per_epoch_ = last_->step + 1;
}

std::optional<std::int64_t> LiveStatus::total_steps() const {
  std::optional<std::int64_t> total = steps_;
  if (epochs_ && steps_per_epoch_)
    total = std::min(total.value_or(*epochs_ * *steps_per_epoch_), *epochs_ * *steps_per_epoch_);
  return total;
}

std::optional<double> LiveStatus::seconds_to_go() const {
  std::optional<double> seconds;
  if (const auto total = total_steps(); total && last_ && steps_per_second_ && *steps_per_second_ > 0)
    seconds = static_cast<double>(std::max<std::int64_t>(0, *total - last_->step - 1)) / *steps_per_second_;
  if (max_seconds_ && last_) {
    const double left = std::max(0.0, *max_seconds_ - (last_time_ - first_time_));
    seconds = std::min(seconds.value_or(left), left);
  }
  return seconds;
}

// A resumed run begins in the middle: there the step knows better than the count of ends seen.
std::int64_t LiveStatus::epoch() const {
  return std::max(epochs_done_ + (in_epoch_ ? 1 : 0), last_->epoch);
}

std::string LiveStatus::quality_text() const {
  std::string text;
  if (last_->loss) text += fmt::format("  loss {:.4g}", *last_->loss);
  const char* whose = of_one_rank_ ? " of rank 0" : "";
  if (quality_.val_accuracy)
    text += fmt::format("  val{} {:.1f} %", whose, 100 * *quality_.val_accuracy);
  else if (quality_.val_loss)
    text += fmt::format("  val loss{} {:.4g}", whose, *quality_.val_loss);
  return text;
}

std::string LiveStatus::speed_text() const {
  std::string text;
  if (steps_per_second_) {
    const double samples = *steps_per_second_ * static_cast<double>(global_batch_);
    text += fmt::format("  {}/s", rounded_with_commas(samples));
  }
  if (last_->exposed_seconds && last_->seconds > 0)
    text += fmt::format("  exposed {:.0f} %", 100 * *last_->exposed_seconds / last_->seconds);
  return text;
}

std::string LiveStatus::text() const {
  if (!last_) return ending_.empty() ? "starting" : ending_;
  std::string text =
      fmt::format("epoch {}  step {}", of_total(epoch(), epochs_), of_total(last_->step + 1, total_steps()));
  // A narrow terminal cuts the end off.
  if (const auto seconds = seconds_to_go(); seconds && ending_.empty())
    text += fmt::format("  {} to go", format_time_to_go(*seconds));
  text += quality_text() + speed_text();
  return ending_.empty() ? text : text + "  " + ending_;
}

std::string format_time_to_go(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  return fmt::format("{}h {:02}m", whole / 3600, whole / 60 % 60);
}

std::string with_commas(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t place = digits.size(); place > 3; place -= 3) digits.insert(place - 3, ",");
  return digits;
}

std::string rounded_with_commas(double number) {
  return with_commas(static_cast<std::uint64_t>(std::llround(number)));
}

}  // namespace lockstep::cli
