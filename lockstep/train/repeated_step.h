// Lets a GPU repeat a step by itself, once steps have become alike: the host then puts one thing on its
// stream instead of hundreds.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lockstep/parallel/compute_queue.h"
#include "lockstep/record/spec.h"

namespace lockstep::train {

// Why steps of this run are not repeated; nothing: they are.
std::optional<std::string> why_not_repeated(const record::RunSpec& spec);

// Steps with the same figures compute the same with other values.
struct StepShape {
  std::int64_t own_samples = 0;
  std::int64_t global_samples = 0;
  bool steady = true;  // parallel::Strategy::steady()
  bool operator==(const StepShape&) const = default;
};

// What a worker needs of its run.
struct RepeatedStepParts {
  const record::RunSpec& spec;  // the same on all workers
  parallel::ComputeQueue& compute;
  measure::StepTimer& timer;
  std::function<void(const std::string&)> warn;
  bool may_record = true;  // whether this worker may, apart from the spec
  // Collective, without waiting for a device: whether all workers say yes.
  std::function<bool(bool)> all_agree = [](bool yes) { return yes; };
};

// Workers repeat a step together, or none does: NCCL wants all ranks to record or none, and one that computes
// as before beside others that repeat would answer for nobody's speed. So they agree before they record, and
// again when each has, before anybody repeats.
class RepeatedStep {
 public:
  explicit RepeatedStep(RepeatedStepParts parts);

  // Computes a step: by calling `work` in the first steps and for another shape than theirs, else by
  // repeating what it did. The result is what `work` returned; of a repeated step, the same tensor with
  // another value.
  at::Tensor run(const StepShape& shape, const std::function<at::Tensor()>& work);
  // Whether the last step was repeated: what the host knows of `work` is then of an earlier one.
  bool repeated() const { return repeated_; }

 private:
  bool record_together(const std::function<at::Tensor()>& work);
  bool record(const std::function<at::Tensor()>& work);

  RepeatedStepParts parts_;
  bool wanted_;       // the same on all workers
  int ordinary_ = 0;  // steps of this shape so far
  StepShape shape_;
  bool repeated_ = false;
  at::Tensor result_;
  std::unique_ptr<parallel::Repeat> repeat_;
};

}  // namespace lockstep::train
