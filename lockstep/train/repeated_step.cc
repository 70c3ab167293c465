#include "lockstep/train/repeated_step.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/record/catalogue_models.h"

namespace lockstep::train {
namespace {

// In the first ones memory is taken, algorithms are tried and buckets find their order.
constexpr int kOrdinarySteps = 3;

}  // namespace

std::optional<std::string> why_not_repeated(const record::RunSpec& spec) {
  if (spec.strategy != "single") return fmt::format("strategy {} cannot be recorded", spec.strategy);
  if (spec.clip_norm) return "the norm that clip_norm asks for is computed with the host";
  if (record::is_model_file(spec.model)) return "what a module from a file does is not known";
  return std::nullopt;
}

RepeatedStep::RepeatedStep(const record::RunSpec& spec, parallel::ComputeQueue& compute, Warn warn)
    : compute_(compute), warn_(std::move(warn)), wanted_(spec.device == "cuda" && spec.graph != "off") {
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
    if (ordinary_ > kOrdinarySteps) wanted_ = record(work);
  }
  if (repeat_ == nullptr || !(shape == shape_)) return work();
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
