#include "lockstep/report/model/averaging.h"

#include <algorithm>
#include <vector>

namespace lockstep::report {
namespace {

using record::EpochFigures;

// Its place in the record.
std::optional<std::size_t> averaged_epoch(const record::RunRecord& run, AveragedEpoch which) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < run.epochs.size(); ++i) {
    const auto& before = run.epochs[i].before_averaging;
    if (before && before->val_loss && (!found || which == AveragedEpoch::last)) found = i;
  }
  return found;
}

std::vector<double> own_losses(const EpochFigures& epoch) {
  std::vector<double> losses;
  for (const record::EpochRankFigures& rank : epoch.per_rank)
    if (rank.before_averaging && rank.before_averaging->val_loss)
      losses.push_back(*rank.before_averaging->val_loss);
  return losses;
}

std::optional<double> least_loss(const EpochFigures& epoch) {
  const std::vector<double> losses = own_losses(epoch);
  return losses.empty() ? std::nullopt : std::optional(*std::min_element(losses.begin(), losses.end()));
}

std::optional<double> most_loss(const EpochFigures& epoch) {
  const std::vector<double> losses = own_losses(epoch);
  return losses.empty() ? std::nullopt : std::optional(*std::max_element(losses.begin(), losses.end()));
}

template <class Pick>
std::optional<Number> over(const std::vector<const EpochFigures*>& epochs, Pick pick) {
  std::vector<double> values;
  for (const EpochFigures* epoch : epochs)
    if (const std::optional<double> value = pick(*epoch)) values.push_back(*value);
  return estimate(values);
}

}  // namespace

std::optional<Averaging> averaging_of(const GridCell& cell, AveragedEpoch which) {
  std::vector<const EpochFigures*> epochs;
  std::size_t first_place = 0;
  for (const record::RunRecord& run : cell.runs)
    if (const auto place = averaged_epoch(run, which)) {
      if (epochs.empty()) first_place = *place;
      epochs.push_back(&run.epochs[*place]);
    }
  if (epochs.empty()) return std::nullopt;
  return Averaging{
      static_cast<double>(epochs.front()->epoch),
      first_place,
      over(epochs, least_loss),
      over(epochs, [](const EpochFigures& epoch) { return epoch.before_averaging->val_loss; }),
      over(epochs, most_loss),
      over(epochs, [](const EpochFigures& epoch) { return epoch.val_loss; }),
      over(epochs, [](const EpochFigures& epoch) { return epoch.before_averaging->val_accuracy; }),
      over(epochs, [](const EpochFigures& epoch) { return epoch.val_accuracy; })};
}

}  // namespace lockstep::report
