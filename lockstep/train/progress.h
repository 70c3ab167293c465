// How far a run has come: all that a resumed one must know besides tensors.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "lockstep/data/sampler.h"
#include "lockstep/train/metrics.h"

namespace lockstep::train {

struct Progress {
  std::int64_t steps_done = 0;
  data::SamplerPosition next;  // the step that comes next
  Metrics epoch_so_far;        // of this rank's samples in the epoch that runs
  double train_seconds = 0;    // of all steps
  double validate_seconds = 0;
  double epoch_seconds = 0;  // of the epoch that runs
};

nlohmann::json to_json(const Progress& progress);
// Throws DataError.
Progress progress_from_json(const nlohmann::json& json);

}  // namespace lockstep::train
