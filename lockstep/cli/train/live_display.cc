#include "lockstep/cli/train/live_display.h"

#include <algorithm>

#include "lockstep/data/describe.h"
#include "lockstep/record/catalogue_data.h"

namespace lockstep::cli {
namespace {

constexpr base::Nanoseconds kLineInterval = std::chrono::seconds(5);

// Known beforehand for published and procedural sets; otherwise the first epoch tells.
std::optional<std::int64_t> samples_per_epoch(const record::RunSpec& spec) {
  const record::DataEntry& set = record::data_entry(spec.data);
  const auto published = data::describe(set, spec.data_dir).train_samples;
  if (!published) return spec.train_samples;
  const auto all = static_cast<std::int64_t>(*published);
  if (set.source == record::Source::procedural) return spec.train_samples.value_or(all);
  return std::min(all, spec.train_samples.value_or(all));
}

}  // namespace

LiveDisplay::LiveDisplay(const std::string& how, const TrainPlan& plan, const lab::RunDirectory& run)
    : progress_(how),
      tail_(run.rank_file(0)),
      status_(plan.spec, samples_per_epoch(plan.spec)),
      next_line_(kLineInterval) {}

void LiveDisplay::tick() {
  if (!progress_.visible()) return;
  bool epoch_ended = false;
  for (const record::Event& event : tail_.read_new()) {
    status_.take(event);
    epoch_ended |= std::holds_alternative<record::EpochEvent>(event.body);
  }
  show(epoch_ended);
}

// A bar follows every change; lines come with every epoch and every few seconds.
void LiveDisplay::show(bool epoch_ended) {
  const std::string text = status_.text();
  if (!progress_.has_bar() && (text == last_text_ || (!epoch_ended && !next_line_.passed()))) return;
  progress_.show(text);
  last_text_ = text;
  next_line_ = base::Deadline(kLineInterval);
}

}  // namespace lockstep::cli
