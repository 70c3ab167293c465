// localsgd: validation before and after the ranks' weights were averaged, in a cell's first or last epoch.
#pragma once

#include "lockstep/report/model/grid.h"

namespace lockstep::report {

enum class AveragedEpoch { first, last };

// Before: of the ranks' own models, each on its part of the validation samples. After: of the averaged model.
struct Averaging {
  double epoch = 0;
  std::size_t place = 0;  // of that epoch in its record: a resumed run's epochs do not begin with the first
  std::optional<Number> least_loss, mean_loss, most_loss, loss_after;
  std::optional<Number> mean_accuracy, accuracy_after;
};

// Nothing where no run of the cell validated its ranks' own models.
std::optional<Averaging> averaging_of(const GridCell& cell, AveragedEpoch which);

}  // namespace lockstep::report
