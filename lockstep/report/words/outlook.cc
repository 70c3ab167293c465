// The projection, and what others claimed. A published claim is repeated only where the published figures
// bear it out.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lockstep/base/text.h"
#include "lockstep/record/threads.h"
#include "lockstep/report/model/scaling.h"
#include "lockstep/report/words/words.h"

namespace lockstep::report {
namespace {

constexpr std::size_t kMostProjections = 4;

// What was predicted need not be the family's last count: oversubscribed ones are kept out.
const GridCell& cell_with(const ScalingFamily& family, int workers) {
  const auto step = std::find_if(family.steps.begin(), family.steps.end(),
                                 [&](const ScalingStep& known) { return known.cell->workers == workers; });
  return *step->cell;
}

void add_projection(Sentences& sentences, const ScalingFamily& family) {
  if (!has_equal_threads(family)) return;
  const std::vector<predict::ScalingPoint> points = scaling_points(family);
  const auto projection = predict::project(points, family.scaling);
  if (!projection) return;
  const GridCell& largest = cell_with(family, projection->largest.workers);
  std::vector<std::string> counts;
  for (const int workers : projection->fitted) counts.push_back(std::to_string(workers));
  sentences.push_back(
      {"projection",
       fmt::format(
           "For {}: fitted to {} workers, the split and the ring formula predict a mean step of {} at {}; {} "
           "was measured, "
           "an error of {}. At {} workers they predict {}, between {} and {}.",
           family.label, base::join(counts, ", "), with_unit(projection->largest.step_seconds, "s"),
           projection->largest.workers, with_unit(projection->measured_seconds, "s"),
           percent(projection->relative_error), projection->twice.workers,
           with_unit(projection->twice.step_seconds, "s"), with_unit(projection->twice.low_seconds, "s"),
           with_unit(projection->twice.high_seconds, "s")),
       {evidence("steps.split_seconds, summed", largest, projection->measured_seconds, "s"),
        evidence("predicted step", largest, projection->largest.step_seconds, "s")}});
}

Sentence unequal_threads_sentence(const ScalingFamily& family) {
  Sentence sentence{"no-projection",
                    "No projection: not all workers had equally many threads, so that no formula of their "
                    "number alone fits.",
                    {}};
  for (const ScalingStep& step : family.steps)
    if (const auto threads = record::threads_per_worker(step.cell->runs.front()))
      sentence.rests_on.push_back({"threads", step.cell->label, std::to_string(*threads)});
  return sentence;
}

// Enough worker counts, had the machine had the cores.
void add_no_projection(Sentences& sentences, const ScalingFamily& family) {
  constexpr std::size_t kLeastCounts = 3;
  std::vector<Evidence> rests;
  std::size_t own = 0;
  for (const ScalingStep& step : family.steps) {
    own += step.cell->oversubscribed ? 0 : 1;
    rests.push_back({"oversubscribed", step.cell->label, step.cell->oversubscribed ? "true" : "false"});
  }
  if (family.steps.size() < kLeastCounts) return;
  if (!has_equal_threads(family)) return sentences.push_back(unequal_threads_sentence(family));
  if (own >= kLeastCounts) return;
  sentences.push_back(
      {"no-projection",
       fmt::format("No projection: only {} worker count{} {} not oversubscribed, and it takes {}.", own,
                   own == 1 ? "" : "s", own == 1 ? "was" : "were", kLeastCounts),
       rests});
}

std::optional<double> published_at(const lab::Published& column, const std::vector<lab::AxisPoint>& point) {
  for (const lab::PublishedValue& given : column.values)
    if (given.at.size() == point.size() &&
        std::is_permutation(given.at.begin(), given.at.end(), point.begin()))
      return given.value;
  return std::nullopt;
}

std::string point_words(const std::vector<lab::AxisPoint>& point) {
  std::vector<std::string> words;
  for (const lab::AxisPoint& at : point) words.push_back(point_text(at));
  return base::join(words, ", ");
}

void add_claim(Sentences& sentences, const lab::Study& study, const lab::Claim& claim) {
  const auto column = std::find_if(study.published.begin(), study.published.end(),
                                   [&](const lab::Published& known) { return known.name == claim.column; });
  if (column == study.published.end()) return;
  const auto lower = published_at(*column, claim.lower), higher = published_at(*column, claim.higher);
  if (!lower || !higher) return;
  const std::string unit = column->unit.empty() ? "" : " " + column->unit;
  const std::vector<Evidence> rests = {
      {"published: " + column->name, point_words(claim.lower), exact_text(*lower) + unit},
      {"published: " + column->name, point_words(claim.higher), exact_text(*higher) + unit}};
  const std::string figures =
      fmt::format("{}{} with {}, {}{} with {}", exact_text(*lower), unit, point_words(claim.lower),
                  exact_text(*higher), unit, point_words(claim.higher));
  const std::string source = claim.source.empty() ? column->source : claim.source;
  if (*lower < *higher)
    sentences.push_back({"claim-kept",
                         fmt::format("{} says: {} Its own figures agree ({}).", source, claim.text, figures),
                         rests});
  else
    sentences.push_back(
        {"claim-contradicted",
         fmt::format("A statement of {} about {} is not repeated here: its own table contradicts it ({}).",
                     source, column->name, figures),
         rests});
}

}  // namespace

Sentences projection_words(const Subject& subject) {
  Sentences sentences;
  const std::vector<ScalingFamily> families = scaling_families(subject.grid);
  for (const ScalingFamily& family : families)
    if (sentences.size() < kMostProjections) add_projection(sentences, family);
  if (sentences.empty())
    for (const ScalingFamily& family : families)
      if (sentences.empty()) add_no_projection(sentences, family);
  return sentences;
}

Sentences published_words(const Subject& subject) {
  Sentences sentences;
  if (subject.study == nullptr) return sentences;
  for (const lab::Claim& claim : subject.study->claims) add_claim(sentences, *subject.study, claim);
  return sentences;
}

}  // namespace lockstep::report
