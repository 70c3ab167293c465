// Cells seen as scaling: families that differ only in workers (and in what batch must do with them), each
// against one worker of the same kind. Weak: batch per worker constant; strong: global batch constant.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "lockstep/predict/projection.h"
#include "lockstep/report/model/grid.h"

namespace lockstep::report {

struct ScalingStep {
  const GridCell* cell = nullptr;
  std::optional<Number> speedup;     // samples per second over those of one worker
  std::optional<Number> efficiency;  // speedup over the ideal
  double ideal = 1;                  // how many times the hardware of one worker: see ideal_speedup
};

// Threads of each worker, where one worker had another number of them than each of many.
struct ThreadChange {
  int one = 1;
  int many = 1;
};
// Nothing where they are equal, where a record does not say, or where a GPU does the work.
std::optional<ThreadChange> thread_change(const GridCell& one, const GridCell& many);
// Of a CPU the threads are the hardware: workers x threads of each, over the threads of the one worker. Else,
// and where they are not known, the number of workers.
double ideal_speedup(const GridCell& one, const GridCell& many);

struct ScalingFamily {
  predict::Scaling scaling = predict::Scaling::weak;
  std::string label;               // what its cells share: "ddp, batch 32 per worker"
  std::vector<ScalingStep> steps;  // by workers; the first is the one worker
};

// What may differ between a cell and the one worker that stands for its baseline: how many workers share the
// work and how they talk, the rule for the learning rate, and what changes no step. All other fields of the
// spec must be equal: a worker that recomputes its activations is no baseline for one that does not.
const std::set<std::string>& beside_the_work();

// Families of at least two worker counts that include one worker. A grid of batch sizes and workers has both
// kinds. Where a family has no one worker of its own, the nearest of the same kind stands for it. They point
// into the grid.
std::vector<ScalingFamily> scaling_families(const Grid& grid);
std::vector<ScalingFamily> scaling_families(const Grid&& grid) = delete;

// The largest count that had cores of its own, else the largest: what headlines are about.
const ScalingStep& judged_step(const ScalingFamily& family);

// Whether its workers had equally many threads at every count: else no formula of workers alone fits its
// steps.
bool has_equal_threads(const ScalingFamily& family);
// What the ideal of these families is, in a sentence.
std::string ideal_text(const std::vector<ScalingFamily>& families);

// What predict needs; cells without a split are left out.
std::vector<predict::ScalingPoint> scaling_points(const ScalingFamily& family);

std::string name_of(predict::Scaling scaling);  // "weak", "strong"

}  // namespace lockstep::report
