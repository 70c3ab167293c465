#include "lockstep/train/trainer.h"

#include <ATen/ATen.h>

#include <cmath>

#include "lockstep/base/error.h"
#include "lockstep/base/log.h"
#include "lockstep/base/units.h"
#include "lockstep/measure/torch/device_blocks.h"
#include "lockstep/models/loss.h"
#include "lockstep/train/algorithm_trials.h"
#include "lockstep/train/metrics_exchange.h"
#include "lockstep/train/replicas.h"

namespace lockstep::train {
namespace {

using measure::Span;
using measure::SpanScope;

[[noreturn]] void refuse_loss(double loss, std::int64_t step, const record::RunSpec& spec) {
  const char* more = spec.compression == "f16" ? " Gradients above 65504 do not fit into f16: --compression "
                                                 "bf16 has the range of f32."
                                               : "";
  throw base::Error(
      base::ExitCode::run_failed,
      fmt::format(
          "the loss of step {} is {}: training has diverged. A smaller --learning-rate, --warmup-epochs or "
          "--clip-norm may keep it finite; data that is not normalised may be the cause too.{}",
          step, std::isnan(loss) ? "nan" : fmt::format("{}", loss), more));
}

record::Task task_of(models::LossKind loss) {
  if (loss == models::LossKind::cross_entropy) return record::Task::classification;
  return loss == models::LossKind::restore ? record::Task::restoration : record::Task::steering;
}

void clip(parallel::Strategy& strategy, std::span<const parallel::Updatable> updatables,
          double largest_norm) {
  const double factor = clip_factor(strategy.sum_over_updatables(square_norm(updatables)), largest_norm);
  if (factor != 1.0) scale_gradients(updatables, factor);
}

models::PassKey pass_key(const record::RunSpec& spec, std::int64_t step, const DeviceBatch& batch,
                         bool training) {
  models::PassKey key;
  key.training = training;
  key.seed = static_cast<std::uint64_t>(spec.seed);
  key.step = static_cast<std::uint64_t>(step);
  key.samples = batch.samples;
  key.device_step = batch.device_step;
  key.device_samples = batch.device_samples;
  return key;
}

record::QualityFigures quality_of(const Metrics& metrics) {
  return {metrics.loss(), metrics.accuracy(), metrics.psnr()};
}

// A worker that is made to sleep sleeps in the host's part of every step: there has to be one.
bool may_repeat(const Disturbances& delays) {
  return (delays.compute + delays.link + delays.first_bucket).count() == 0;
}

}  // namespace

Trainer::Trainer(const TrainerParts& parts, const Progress& from)
    : parts_(parts),
      progress_(from),
      began_with_(from.steps_done),
      reporter_(parts.spec, parts.ledger, parts.events, parts.disturbances.measure_turn),
      losses_(parts.communicator, parts.model.parameters().front().tensor.options(), parts.compute,
              parts.timer),
      tally_(task_of(parts.loss)),
      stop_(parts.spec),
      target_(parts.spec),
      repeated_({parts.spec, parts.compute, parts.timer,
                 [this](const std::string& message) { parts_.events.write(record::WarningEvent{message}); },
                 may_repeat(parts.disturbances), parts.all_agree}) {
  tally_.restart(progress_.epoch_so_far);
  parts_.train_data.seek(progress_.next);
}

Ending Trainer::run() {
  bool ended = stop_.done(progress_.steps_done, static_cast<std::int64_t>(progress_.next.epoch));
  bool interrupted = false;
  while (!ended) {
    train_step();
    if (epoch_ended_) end_epoch();
    ended =
        target_reached_ || stop_.done(progress_.steps_done, static_cast<std::int64_t>(progress_.next.epoch));
    if (ended) break;
    const Wish wish = parts_.agreement.at_boundary(progress_.steps_done);
    if (wish != Wish::none) take_loss();
    if (wish == Wish::checkpoint || wish == Wish::interrupt) save_checkpoint();
    if (wish == Wish::checkpoint) say_if_rarer(parts_.agreement.checkpoint_written());
    interrupted = wish == Wish::interrupt;
    ended = interrupted || wish == Wish::stop;
  }
  take_loss();
  if (!interrupted) parts_.strategy.end();
  write_unfinished_epoch();
  reporter_.splits(parts_.timer.take(true));
  if (parts_.replicas != nullptr) parts_.replicas->end_steps();
  return interrupted ? Ending{parts_.agreement.interrupter()} : Ending{};
}

void Trainer::begin_step() {
  if (std::exchange(continuous_, true)) return;
  parts_.timer.begin_step(progress_.steps_done);
  reporter_.begin_anew();
  if (parts_.replicas != nullptr) parts_.replicas->begin_step(progress_.steps_done);
}

void Trainer::watch_memory() {
  const bool rests = !measure::measured_in_turn(progress_.steps_done, parts_.disturbances.measure_turn);
  const auto step = static_cast<std::uint64_t>(progress_.steps_done - began_with_);
  measure::watch_device_blocks(!rests && measure::is_worth_watching(step));
}

void Trainer::train_step() {
  begin_step();
  watch_memory();
  const measure::DeviceWatch watch;
  const base::TimePoint began = base::now();
  const DeviceBatch batch = next_batch();
  parts_.optimizer.advance(parts_.schedule.learning_rate(static_cast<std::uint64_t>(progress_.steps_done)));
  const StepShape shape{batch.count(), static_cast<std::int64_t>(batch.plan.global_count),
                        parts_.strategy.steady()};
  const RestFromTrials rest(batch.plan.last_of_epoch && parts_.train_data.steps_per_epoch() > 1);
  const at::Tensor loss = repeated_.run(shape, [&] { return compute(batch); });
  if (parts_.disturbances.flip_after == progress_.steps_done + 1) flip_a_bit(parts_.strategy.updatables());
  parts_.strategy.after_update();
  end_step(batch, loss);
  const double seconds = base::to_seconds(base::now() - began);
  progress_.train_seconds += seconds;
  progress_.epoch_seconds += seconds;
}

// What a GPU may repeat by itself.
at::Tensor Trainer::compute(const DeviceBatch& batch) {
  const at::Tensor loss = run_parts(batch);
  parts_.strategy.finish_gradients();
  update();
  return loss;
}

DeviceBatch Trainer::next_batch() {
  std::optional<data::Batch> batch;
  {
    const SpanScope span(parts_.timer, Span::data);
    batch = parts_.train_data.next();
  }
  const SpanScope span(parts_.timer, Span::input);
  return parts_.inputs.take(*batch, progress_.steps_done);
}

// The parts are as equal as can be; a batch smaller than their number gives fewer. All workers have as many
// as the first, whose share is the largest: strategies may communicate in each of them.
at::Tensor Trainer::run_parts(const DeviceBatch& batch) {
  const auto count = static_cast<std::size_t>(batch.count());
  const int world = parts_.communicator == nullptr ? 1 : parts_.communicator->group().world;
  const std::size_t largest =
      data::share_of(batch.plan.global_count, static_cast<std::size_t>(world), 0).count;
  const std::size_t parts =
      std::max<std::size_t>(1, std::min(largest, static_cast<std::size_t>(parts_.spec.accumulate)));
  if (parts == 1) return run_part(batch, batch.count(), true, true);
  at::Tensor loss;
  for (std::size_t part = 0; part < parts; ++part) {
    const data::Share share = data::share_of(count, parts, part);
    const DeviceBatch rows =
        rows_of(batch, static_cast<std::int64_t>(share.begin), static_cast<std::int64_t>(share.count));
    const at::Tensor part_loss = run_part(rows, batch.count(), part == 0, part + 1 == parts);
    loss = loss.defined() ? loss + part_loss : part_loss;
  }
  return loss;
}

at::Tensor Trainer::run_part(const DeviceBatch& batch, std::int64_t own_samples, bool first, bool last) {
  parallel::StepPart part;
  part.inputs = batch.inputs;
  part.targets = batch.targets;
  part.key = pass_key(parts_.spec, progress_.steps_done, batch, true);
  part.divisor = static_cast<double>(batch.plan.global_count);
  part.own_samples = static_cast<double>(own_samples);
  part.first = first;
  part.last = last;
  const parallel::PartResult result = parts_.strategy.train_part(part);
  const SpanScope span(parts_.timer, Span::forward);
  tally_.add(result.output, part.targets, result.loss, part.divisor);
  return result.loss;
}

void Trainer::update() {
  const std::span<const parallel::Updatable> updatables = parts_.strategy.updatables();
  const SpanScope span(parts_.timer, Span::optimizer);
  if (parts_.spec.clip_norm) clip(parts_.strategy, updatables, *parts_.spec.clip_norm);
  parts_.optimizer.update(updatables);
}

void Trainer::end_step(const DeviceBatch& batch, const at::Tensor& loss) {
  // A GPU is behind: asking it for this step's loss now would stop it.
  const bool in_background = parts_.strategy.overlapped() || loss.is_cuda();
  {
    const SpanScope span(parts_.timer, Span::forward);
    take_loss();
    losses_.start(loss, in_background);
  }
  pending_loss_ = progress_.steps_done + 1;
  parts_.timer.end_step();
  report_step(batch);
  if (!in_background) take_loss();
  reporter_.splits(parts_.timer.take());
  ++progress_.steps_done;
  progress_.next = parts_.train_data.position();
  epoch_ended_ = batch.plan.last_of_epoch;
}

void Trainer::report_step(const DeviceBatch& batch) {
  StepFacts facts;
  facts.step = progress_.steps_done;
  facts.epoch = static_cast<std::int64_t>(batch.plan.position.epoch);
  facts.samples = batch.count();
  const std::vector<parallel::ReplicaStep> replicas = parts_.strategy.replica_steps();
  if (parts_.replicas != nullptr) parts_.replicas->end_step(facts, replicas);
  if (!replicas.empty()) {
    facts.samples = replicas.front().samples;
    facts.primitive_seconds = replicas.front().primitive_seconds;
  }
  if (!repeated_.repeated()) facts.buckets = parts_.strategy.bucket_times();
  facts.square_norm = parts_.strategy.square_norm();
  facts.waited_for_control = parts_.strategy.waited_for_control();
  reporter_.ended(std::move(facts));
}

// The loss of the step before, or of this one where it was not added up in the background.
void Trainer::take_loss() {
  if (!pending_loss_) return;
  const std::int64_t step = *std::exchange(pending_loss_, std::nullopt);
  const double loss = losses_.finish();
  if (!std::isfinite(loss)) refuse_loss(loss, step, parts_.spec);
  reporter_.loss(loss);
  if (parts_.replicas != nullptr) parts_.replicas->loss(loss);
}

void Trainer::end_epoch() {
  take_loss();
  keep_tally();
  const auto epochs_done = static_cast<std::int64_t>(progress_.next.epoch);
  const bool last = stop_.done(progress_.steps_done, epochs_done);
  const bool validates = wants_validation(epochs_done, last);
  std::optional<Metrics> before_averaging;
  if (validates && parts_.strategy.parameters_differ()) before_averaging = validate();
  end_epoch_of_strategy();
  EpochMetrics all{sum_over_ranks(parts_.communicator, progress_.epoch_so_far), {}};
  std::optional<Metrics> validation;
  if (validates) {
    validation = validate();
    all.validation = sum_over_ranks(parts_.communicator, *validation);
  }
  write_epoch(epochs_done, validation, before_averaging, all);
  parts_.report_totals();
  if (target_.reached(all, epochs_done, progress_.train_seconds)) target_reached_ = true;
  progress_.epoch_so_far = {};
  tally_.restart({});
  progress_.epoch_seconds = 0;
  continuous_ = false;
  if (parts_.spec.checkpoint_epochs && epochs_done % *parts_.spec.checkpoint_epochs == 0) save_checkpoint();
}

bool Trainer::wants_validation(std::int64_t epochs_done, bool last) const {
  const std::int64_t every = parts_.spec.validate_every;
  return parts_.validation_data != nullptr && every > 0 && (last || epochs_done % every == 0);
}

// What workers exchange then is part of the epoch.
void Trainer::end_epoch_of_strategy() {
  const base::TimePoint began = base::now();
  parts_.strategy.end_epoch();
  const double seconds = base::to_seconds(base::now() - began);
  progress_.train_seconds += seconds;
  progress_.epoch_seconds += seconds;
}

// What was trained with in it so far.
record::EpochEvent Trainer::epoch_event(std::int64_t epoch) const {
  const Metrics& train = progress_.epoch_so_far;
  record::EpochEvent event;
  event.epoch = epoch;
  event.seconds = progress_.epoch_seconds;
  event.learning_rate = parts_.schedule.learning_rate(static_cast<std::uint64_t>(progress_.steps_done - 1));
  event.train_samples = train.samples;
  event.train_loss = train.loss();
  event.train_accuracy = train.accuracy();
  return event;
}

void Trainer::write_epoch(std::int64_t epochs_done, const std::optional<Metrics>& validation,
                          const std::optional<Metrics>& before_averaging, const EpochMetrics& all) {
  record::EpochEvent event = epoch_event(epochs_done);
  if (validation) {
    event.val_samples = validation->samples;
    event.val_loss = validation->loss();
    event.val_accuracy = validation->accuracy();
    event.val_psnr = validation->psnr();
  }
  if (before_averaging) event.before_averaging = quality_of(*before_averaging);
  if (all.validation && parts_.communicator != nullptr) event.all_ranks = quality_of(*all.validation);
  parts_.events.write(event);
}

// A run that a limit or a signal ends inside an epoch still says what it has learnt.
void Trainer::write_unfinished_epoch() {
  if (epoch_ended_ || progress_.steps_done == began_with_) return;
  keep_tally();
  record::EpochEvent event = epoch_event(static_cast<std::int64_t>(progress_.next.epoch) + 1);
  event.unfinished = true;
  parts_.events.write(event);
}

// This rank's share of the held-out samples.
Metrics Trainer::validate() {
  const base::TimePoint began = base::now();
  measure::watch_device_blocks(true);
  const measure::DeviceWatch watch;
  const at::NoGradGuard no_grad;
  parts_.strategy.settle();
  parts_.validation_data->seek({});
  models::Runner runner;
  Tally tally(task_of(parts_.loss));
  const std::size_t steps = parts_.validation_data->steps_per_epoch();
  for (std::size_t step = 0; step < steps; ++step) {
    const RestFromTrials rest(step + 1 == steps && steps > 1);
    const DeviceBatch batch = parts_.inputs.take_uncounted(*parts_.validation_data->next());
    if (batch.count() == 0) continue;
    const models::PassKey key = pass_key(parts_.spec, progress_.steps_done, batch, false);
    at::Tensor output = parts_.strategy.evaluate(batch.inputs, key);
    if (!output.defined()) output = runner.forward(parts_.model.root(), batch.inputs, key);
    tally.add(output, batch.targets, models::loss_of(parts_.loss, output, batch.targets, 1.0), 1.0);
  }
  const Metrics total = tally.total();
  progress_.validate_seconds += base::to_seconds(base::now() - began);
  return total;
}

void Trainer::keep_tally() {
  progress_.epoch_so_far = tally_.total();
}

// An epoch's end and a clock or a signal may ask for the same one.
void Trainer::save_checkpoint() {
  continuous_ = false;
  if (std::exchange(saved_at_, progress_.steps_done) == progress_.steps_done) return;
  keep_tally();
  parts_.checkpointer.save(progress_);
}

// Whoever asked for checkpoints by the clock is to know that they do not come as often as that.
void Trainer::say_if_rarer(const std::optional<base::Nanoseconds>& interval) {
  if (!interval) return;
  const std::string warning = fmt::format(
      "checkpoints come every {} instead of every {}: writing one takes so long that nothing but checkpoints "
      "would be "
      "left. Give a longer --checkpoint-time",
      base::format_duration(*interval),
      base::format_duration(base::from_seconds(parts_.spec.checkpoint_time->count)));
  base::log_info("warning: " + warning);
  parts_.events.write(record::WarningEvent{warning});
}

}  // namespace lockstep::train
