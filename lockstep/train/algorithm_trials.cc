#include "lockstep/train/algorithm_trials.h"

#include <ATen/Context.h>

namespace lockstep::train {

RestFromTrials::RestFromTrials(bool rest) : before_(at::globalContext().benchmarkCuDNN()) {
  if (rest) at::globalContext().setBenchmarkCuDNN(false);
}

RestFromTrials::~RestFromTrials() {
  at::globalContext().setBenchmarkCuDNN(before_);
}

}  // namespace lockstep::train
