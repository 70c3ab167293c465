#include "lockstep/train/repeated_step.h"

#include <fmt/format.h>

#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/record/catalogue_models.h"
#include "lockstep/record/catalogue_rules.h"

namespace lockstep::train {
namespace {

// In the first ones memory is taken, algorithms are tried and buckets find their order.
constexpr int kOrdinarySteps = 3;

bool is_wanted(const record::RunSpec& spec) {
  return spec.device == "cuda" && spec.graph != "off";
}

}  // namespace

std::optional<std::string> why_not_repeated(const record::RunSpec& spec) {
  if (spec.strategy != "single" && spec.strategy != "ddp")
    return fmt::format("strategy {} cannot be recorded", spec.strategy);
  if (spec.strategy == "ddp" && !record::moves_device_memory(spec.backend))
    return fmt::format("backend {} moves memory of the host", spec.backend);
  if (spec.strategy == "ddp" && spec.buffers == "sync")
    return "synchronised batch norms ask the device for counts";
  if (spec.clip_norm) return "the norm that clip_norm asks for is computed with the host";
  if (record::is_model_file(spec.model)) return "what a module from a file does is not known";
  return std::nullopt;
}

RepeatedStep::RepeatedStep(RepeatedStepParts parts)
    : parts_(std::move(parts)), wanted_(is_wanted(parts_.spec)) {
  if (!wanted_) return;
  const std::optional<std::string> reason = why_not_repeated(parts_.spec);
  wanted_ = !reason;
  if (reason && parts_.spec.graph == "on")
    parts_.warn(fmt::format("steps are not captured into a CUDA graph: {}", *reason));
}

at::Tensor RepeatedStep::run(const StepShape& shape, const std::function<at::Tensor()>& work) {
  if (repeat_ == nullptr && wanted_) {
    ordinary_ = shape == shape_ ? ordinary_ + 1 : 1;
    shape_ = shape;
    if (shape.steady && ordinary_ > kOrdinarySteps) wanted_ = record_together(work);
  }
  repeated_ = repeat_ != nullptr && shape == shape_;
  if (!repeated_) return work();
  // The work enters its own spans; until it does, its first one has begun.
  const measure::SpanScope span(parts_.timer, measure::Span::forward);
  repeat_->run();
  return result_;
}

bool RepeatedStep::record_together(const std::function<at::Tensor()>& work) {
  const auto all_agree = std::exchange(parts_.all_agree, {});
  if (!all_agree(parts_.may_record)) {
    if (parts_.spec.graph == "on")
      parts_.warn("steps are not captured into a CUDA graph: a worker is slowed down on purpose");
    return false;
  }
  const bool recorded = record(work);
  if (all_agree(recorded)) return true;
  if (recorded)
    parts_.warn(
        "steps are not captured into a CUDA graph: another worker's could not be (its own warning says why)");
  repeat_.reset();
  result_ = at::Tensor();
  return false;
}

bool RepeatedStep::record(const std::function<at::Tensor()>& work) {
  try {
    repeat_ = parts_.compute.record([&] { result_ = work(); });
    return repeat_ != nullptr;
  } catch (const base::DeviceError& error) {
    parts_.warn(fmt::format("steps are not captured into a CUDA graph: {}", error.what()));
    return false;
  }
}

}  // namespace lockstep::train
