#include "lockstep/record/last_epoch.h"

namespace lockstep::record {

std::optional<double> last_figure(std::span<const EpochFigures> epochs,
                                  std::optional<double> EpochFigures::*figure) {
  std::optional<double> of_unfinished;
  for (auto epoch = epochs.rbegin(); epoch != epochs.rend(); ++epoch) {
    const std::optional<double>& value = (*epoch).*figure;
    if (!value) continue;
    if (!epoch->unfinished.value_or(false)) return value;
    if (!of_unfinished) of_unfinished = value;
  }
  return of_unfinished;
}

}  // namespace lockstep::record
