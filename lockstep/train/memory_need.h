// What a step of a run needs, estimated over shapes before or after it has failed, and what would make it
// fit. docs/memory.md derives the formulas.
#pragma once

#include <cstdint>
#include <string>

#include "lockstep/measure/memory_account.h"
#include "lockstep/record/spec.h"

namespace lockstep::train {

// Bytes on one worker.
struct MemoryNeed {
  std::uint64_t parameters = 0;  // whole, or this worker's shard and what is gathered besides
  std::uint64_t gradients = 0;   // in buckets or not
  std::uint64_t optimizer = 0;
  std::uint64_t activations =
      0;  // what forward keeps, and three of the largest outputs while backward passes them
  std::uint64_t batches = 0;  // of the loader

  std::uint64_t model_state() const { return parameters + gradients + optimizer; }
  std::uint64_t total() const { return model_state() + activations + batches; }
};

// Of a resolved spec with a registered model; `recompute` by a rule of thumb. Throws ConfigError
// where the model cannot be recomputed.
MemoryNeed estimated_need(const record::RunSpec& spec);

// The refusal again, with what the step needs and what would help by name; where not even one sample fits,
// with the least cap that would do.
measure::OutOfMemory with_cures(const measure::OutOfMemory& refusal, const record::RunSpec& spec);

}  // namespace lockstep::train
