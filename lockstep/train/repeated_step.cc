#include "lockstep/train/repeated_step.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/record/catalogue_models.h"
#include "lockstep/record/catalogue_rules.h"

namespace lockstep::train {
namespace {

// In the first ones memory is taken, algorithms are tried and buckets find their order.
constexpr int kOrdinarySteps = 3;

// Several workers' steps are recorded on request only: NCCL wants all ranks to record or none, and a rank
// that falls back does so by itself.
bool is_wanted(const record::RunSpec& spec) {
  if (spec.device != "cuda") return false;
  return spec.graph == "on" || (spec.graph == "auto" && spec.strategy == "single");
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

RepeatedStep::RepeatedStep(const record::RunSpec& spec, parallel::ComputeQueue& compute,
                           measure::StepTimer& timer, Warn warn)
    : compute_(compute), timer_(timer), warn_(std::move(warn)), wanted_(is_wanted(spec)) {
  if (!wanted_) return;
  const std::optional<std::string> reason = why_not_repeated(spec);
  wanted_ = !reason;
  if (reason && spec.graph == "on")
    warn_(fmt::format("steps are not captured into a CUDA graph: {}", *reason));
}

at::Tensor RepeatedStep::run(const StepShape& shape, const std::function<at::Tensor()>& work) {
  if (repeat_ == nullptr && wanted_) {
    ordinary_ = shape == shape_ ? ordinary_ + 1 : 1;
    shape_ = shape;
    if (shape.steady && ordinary_ > kOrdinarySteps) wanted_ = record(work);
  }
  repeated_ = repeat_ != nullptr && shape == shape_;
  if (!repeated_) return work();
  // The work enters its own spans; until it does, its first one has begun.
  const measure::SpanScope span(timer_, measure::Span::forward);
  repeat_->run();
  return result_;
}

bool RepeatedStep::record(const std::function<at::Tensor()>& work) {
  try {
    repeat_ = compute_.record([&] { result_ = work(); });
    return repeat_ != nullptr;
  } catch (const base::DeviceError& error) {
    warn_(fmt::format("steps are not captured into a CUDA graph: {}", error.what()));
    return false;
  }
}

}  // namespace lockstep::train
