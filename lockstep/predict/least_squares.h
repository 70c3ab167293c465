// Least squares with coefficients that may not be negative: no part of a step takes less than no time.
#pragma once

#include <span>
#include <vector>

namespace lockstep::predict {

// One measurement: the values of the terms there, and what was measured.
struct Observation {
  std::vector<double> terms;
  double value = 0;
};

// The coefficients, one for each term, that fit best in the sum of squares relative to the values, so that a
// long step does not outweigh a short one. Terms that the observations cannot tell apart share nothing: the
// later ones get 0. Few terms only: every subset is tried.
std::vector<double> fit_non_negative(std::span<const Observation> observations);

}  // namespace lockstep::predict
