#include "lockstep/record/spec_validate.h"

#include <fmt/core.h>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/record/catalogue_data.h"
#include "lockstep/record/catalogue_input.h"
#include "lockstep/record/spec_validate_model.h"
#include "lockstep/record/spec_validate_torch.h"

namespace lockstep::record {
namespace {

using SpecRule = std::optional<Problem> (*)(const RunSpec&);

std::optional<Problem> one_batch(const RunSpec& spec) {
  if (!spec.batch_size || !spec.global_batch) return std::nullopt;
  return Problem{
      "global_batch", std::to_string(*spec.global_batch),
      fmt::format("batch_size {} (per worker) is given too, and only one of them may be", *spec.batch_size),
      fmt::format("global_batch {} alone, or batch_size {} alone", *spec.global_batch, *spec.batch_size)};
}

std::optional<Problem> batch_feeds_all(const RunSpec& spec) {
  if (!spec.global_batch || *spec.global_batch >= spec.workers) return std::nullopt;
  return Problem{"global_batch", std::to_string(*spec.global_batch),
                 fmt::format("{} workers need at least one sample each", spec.workers),
                 fmt::format("global_batch {}", spec.workers)};
}

std::optional<Problem> parts_have_samples(const RunSpec& spec) {
  const std::int64_t per_worker = batch_sizes(spec).per_worker;
  if (spec.accumulate <= per_worker) return std::nullopt;
  return Problem{"accumulate", std::to_string(spec.accumulate),
                 fmt::format("a worker's batch of {} cannot be cut into more parts than samples", per_worker),
                 fmt::format("accumulate {}", per_worker)};
}

std::optional<Problem> nesterov_needs_momentum(const RunSpec& spec) {
  if (!spec.nesterov || (spec.optimizer == "sgd" && spec.momentum > 0)) return std::nullopt;
  return Problem{"nesterov", "true", "it is a form of the momentum of sgd",
                 "optimizer sgd with momentum 0.9"};
}

std::optional<Problem> one_target(const RunSpec& spec) {
  const int given = spec.target_loss.has_value() + spec.target_val_loss.has_value() +
                    spec.target_accuracy.has_value() + spec.target_psnr.has_value();
  if (given <= 1) return std::nullopt;
  return Problem{"target", std::to_string(given), "that many targets are given, and a run has one",
                 "the first of them"};
}

std::optional<Problem> target_can_be_measured(const RunSpec& spec) {
  const Task task = data_entry(spec.data).task;
  if (spec.target_accuracy && task != Task::classification) {
    return Problem{"target_accuracy", fmt::format("{}", *spec.target_accuracy),
                   fmt::format("data {} has no labels", spec.data), "target_loss"};
  }
  if (spec.target_psnr && task != Task::restoration) {
    return Problem{"target_psnr", fmt::format("{}", *spec.target_psnr),
                   fmt::format("data {} is not for restoration", spec.data), "target_loss"};
  }
  return std::nullopt;
}

std::optional<Problem> validation_feeds_target(const RunSpec& spec) {
  const bool validated = spec.target_val_loss || spec.target_accuracy || spec.target_psnr;
  if (!validated || spec.validate_every > 0) return std::nullopt;
  return Problem{"validate_every", "0", "the target is measured on validation data", "validate_every 1"};
}

// A label is one number, and what a model says of it is one for each class: their difference means nothing.
std::optional<Problem> loss_fits_data(const RunSpec& spec) {
  const bool labels = data_entry(spec.data).task == Task::classification;
  if (spec.loss == "cross-entropy" && !labels)
    return Problem{"loss", spec.loss, fmt::format("data {} has no labels", spec.data), "loss mse"};
  if (spec.loss == "mse" && labels)
    return Problem{"loss", spec.loss, fmt::format("data {} has labels, not values to come near", spec.data),
                   "loss cross-entropy"};
  return std::nullopt;
}

// Replicas are made anew from the first one every step.
std::optional<Problem> dp_keeps_first_buffers(const RunSpec& spec) {
  if (spec.strategy != "dp" || spec.buffers == "broadcast" || spec.buffers == "sync") return std::nullopt;
  return Problem{"buffers", spec.buffers, "strategy dp replicates the first replica's buffers every step",
                 "buffers broadcast, or buffers sync for statistics over the whole batch"};
}

std::optional<Problem> dp_does_not_overlap(const RunSpec& spec) {
  if (spec.strategy != "dp" || spec.overlap != "on") return std::nullopt;
  return Problem{"overlap", spec.overlap, "strategy dp reduces gradients when all replicas have them",
                 "overlap off, or strategy ddp"};
}

std::optional<Problem> switches_are_of_dp(const RunSpec& spec) {
  if (spec.strategy == "dp") return std::nullopt;
  const auto refused = [](const char* field) {
    return Problem{field, "true", "it is a switch of strategy dp", "strategy dp"};
  };
  if (spec.coalesced_broadcast) return refused("coalesced_broadcast");
  if (spec.threaded_scatter) return refused("threaded_scatter");
  if (spec.coalesced_reduction) return refused("coalesced_reduction");
  return spec.keep_originals ? std::optional(refused("keep_originals")) : std::nullopt;
}

// Only f32 has bits to spare: f64 is asked for to lose none, and bf16 is as short as what would be sent.
std::optional<Problem> compression_has_bits_to_spare(const RunSpec& spec) {
  if (spec.compression == "none" || spec.precision == "f32") return std::nullopt;
  return Problem{"compression", spec.compression,
                 spec.precision == "f64"
                     ? "precision f64 is for exact comparisons, and 16 bits would lose them"
                     : fmt::format("gradients of precision {} have 16 bits already", spec.precision),
                 "precision f32, or compression none"};
}

std::optional<Problem> compression_has_gradients(const RunSpec& spec) {
  const bool sends =
      spec.strategy == "ddp" || spec.strategy == "horovod" || (spec.strategy == "auto" && spec.workers > 1);
  if (spec.compression == "none" || sends) return std::nullopt;
  return Problem{"compression", spec.compression,
                 fmt::format("strategy {} does not compress gradients",
                             spec.strategy == "auto" ? "single" : spec.strategy),
                 "compression none, or strategy ddp or horovod"};
}

std::optional<Problem> local_steps_need_localsgd(const RunSpec& spec) {
  if (!spec.local_steps || spec.strategy == "localsgd") return std::nullopt;
  return Problem{"local_steps", std::to_string(*spec.local_steps),
                 fmt::format("strategy {} exchanges gradients in every step", spec.strategy),
                 "strategy localsgd"};
}

std::optional<Problem> localsgd_meets_rarely(const RunSpec& spec) {
  if (spec.strategy != "localsgd" || spec.buffers != "sync") return std::nullopt;
  return Problem{"buffers", spec.buffers,
                 "synchronised norms meet in every layer of every step, and localsgd's workers step alone",
                 "buffers average"};
}

constexpr SpecRule kSpecRules[] = {one_batch,
                                   batch_feeds_all,
                                   parts_have_samples,
                                   nesterov_needs_momentum,
                                   one_target,
                                   target_can_be_measured,
                                   validation_feeds_target,
                                   loss_fits_data,
                                   dp_keeps_first_buffers,
                                   dp_does_not_overlap,
                                   switches_are_of_dp,
                                   compression_has_bits_to_spare,
                                   compression_has_gradients,
                                   local_steps_need_localsgd,
                                   localsgd_meets_rarely};

}  // namespace

std::vector<Problem> problems_of(const RunSpec& spec, const Surroundings& surroundings) {
  const Combination run = resolve(spec, surroundings);
  std::vector<Problem> problems = problems_of(run);
  for (Problem& problem : torch_problems(spec, run)) problems.push_back(std::move(problem));
  for (Problem& problem : input_problems(spec)) problems.push_back(std::move(problem));
  for (Problem& problem : model_problems(spec)) problems.push_back(std::move(problem));
  for (const SpecRule rule : kSpecRules) {
    if (auto problem = rule(spec)) problems.push_back(std::move(*problem));
  }
  return problems;
}

void require_valid(const RunSpec& spec, const Surroundings& surroundings) {
  std::vector<std::string> lines;
  for (const Problem& problem : problems_of(spec, surroundings)) lines.push_back(text_of(problem));
  if (!lines.empty()) throw base::ConfigError(base::join(lines, "\n"));
}

}  // namespace lockstep::record
