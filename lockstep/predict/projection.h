// A first projection: from the measured split of the step at some worker counts to counts nobody has run.
//
// A step at n workers is the sum of its parts. What the worker does alone (data, input, forward, backward,
// optimiser, other) is fitted as
//   weak scaling (batch per worker constant):   a + b (n-1)     b: contention for what workers share
//   strong scaling (global batch constant):     a + b / n
// and exposed communication by the ring formula's two terms,
//   2(n-1) alpha' + 2(n-1)/n S/B'
// where alpha' and B' are those of the exposed part: what the overlap leaves of the link's. A part with too
// few counts for two terms gets one. Coefficients are never negative.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace lockstep::predict {

enum class Scaling { weak, strong };

// What was measured at one worker count.
struct ScalingPoint {
  int workers = 1;
  double alone_seconds = 0;     // of a step: all but exposed communication
  double exposed_seconds = 0;   // of a step
  double payload_bytes = 0;     // of gradients, a step
  double relative_noise = 0;    // half the 95 % interval of the step time over the step time; 0: unknown
  bool oversubscribed = false;  // more workers than cores: kept out of every fit

  double step_seconds() const { return alone_seconds + exposed_seconds; }
};

struct StepModel {
  Scaling scaling = Scaling::weak;
  double alone_constant = 0;    // a, seconds
  double alone_slope = 0;       // b, seconds
  double message_seconds = 0;   // alpha'
  double seconds_per_byte = 0;  // 1 / B'
  double payload_bytes = 0;     // S

  double alone_seconds(int workers) const;
  double exposed_seconds(int workers) const;
  double step_seconds(int workers) const { return alone_seconds(workers) + exposed_seconds(workers); }
};

// Points of oversubscribed runs are passed over. Nothing when fewer than two worker counts remain.
std::optional<StepModel> fit_step(std::span<const ScalingPoint> points, Scaling scaling);

struct Prediction {
  int workers = 0;
  double step_seconds = 0;
  double low_seconds = 0;  // the interval: see project()
  double high_seconds = 0;
};

struct Projection {
  StepModel model;              // fitted without the largest count
  std::vector<int> fitted;      // the counts it was fitted to
  Prediction largest;           // of the count that was left out
  double measured_seconds = 0;  // what was measured there
  double relative_error = 0;    // (predicted - measured) / measured
  StepModel full_model;         // fitted to all counts
  Prediction twice;             // of twice the largest count, by the full model
};

// Nothing with fewer than three worker counts that were not oversubscribed. The interval around a prediction
// is plus and minus the largest of: the error at the left-out count (for `twice` only), the worst residual of
// the counts that were fitted, and the noise of the measurements.
std::optional<Projection> project(std::span<const ScalingPoint> points, Scaling scaling);

}  // namespace lockstep::predict
