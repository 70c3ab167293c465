// How fast more workers are, whether that exceeds the noise, and why not faster.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "lockstep/report/model/scaling.h"
#include "lockstep/report/words/causes.h"

namespace lockstep::report {
namespace {

constexpr std::size_t kMostFamilies = 6;

std::vector<Evidence> speed_evidence(const GridCell& one, const GridCell& cell) {
  return {evidence("steps.samples_per_second", one, *figure(one, "samples_per_second"), "1/s"),
          evidence("steps.samples_per_second", cell, *figure(cell, "samples_per_second"), "1/s")};
}

// The largest count that had cores of its own, else the largest.
const ScalingStep& judged_step(const ScalingFamily& family) {
  for (auto step = family.steps.rbegin(); step != family.steps.rend(); ++step)
    if (!step->cell->oversubscribed && step->cell->workers > 1) return *step;
  return family.steps.back();
}

std::string family_name(const ScalingFamily& family) {
  return fmt::format("{} ({} scaling)", family.label, name_of(family.scaling));
}

Sentence noise_sentence(const ScalingFamily& family, const ScalingStep& step, std::vector<Evidence> rests) {
  return {
      "noise",
      fmt::format(
          "For {}, {} workers measured {} times the samples per second of one, but the intervals of the two "
          "overlap: the difference is smaller than the noise, so which is faster cannot be told. More "
          "repeats "
          "or longer runs would tell.",
          family_name(family), step.cell->workers, display_number(step.speedup->value)),
      std::move(rests)};
}

Sentence speed_sentence(const ScalingFamily& family, const ScalingStep& step, std::vector<Evidence> rests,
                        bool noise_known) {
  // What single runs differ by on a quiet machine: less than that is no difference to speak of.
  constexpr double kUsualNoise = 0.05;
  const bool alike = !noise_known && std::abs(step.speedup->value - 1) < kUsualNoise;
  const char* verdict = step.speedup->value > 1 ? "faster" : "slower";
  std::string text = fmt::format(
      "For {}, {} workers are {} one: {} times its samples per second, {} of the ideal {}",
      family_name(family), step.cell->workers, alike ? "about as fast as" : std::string(verdict) + " than",
      display_number(step.speedup->value), percent(step.efficiency->value), step.cell->workers);
  text += noise_known ? "." : " (one run each: how much is noise is not known).";
  return {alike ? "alike" : verdict, text, std::move(rests)};
}

Sentence well_sentence(const ScalingStep& step) {
  return {"all-well",
          fmt::format("Scaling is good there: {} efficiency at {} workers, and neither data, stragglers nor "
                      "communication take {} of the step. More workers are worth trying.",
                      percent(step.efficiency->value), step.cell->workers, percent(kBoundShare)),
          {evidence("efficiency", *step.cell, *step.efficiency)}};
}

void append(Sentences& sentences, Sentences more) {
  for (Sentence& sentence : more) sentences.push_back(std::move(sentence));
}

void add_family(Sentences& sentences, const ScalingFamily& family) {
  const GridCell& one = *family.steps.front().cell;
  const ScalingStep& step = judged_step(family);
  if (!step.speedup || !step.efficiency) return;
  std::vector<Evidence> rests = speed_evidence(one, *step.cell);
  const auto differ =
      clearly_differ(*figure(one, "samples_per_second"), *figure(*step.cell, "samples_per_second"));
  if (differ && !*differ) {
    sentences.push_back(noise_sentence(family, step, std::move(rests)));
    return;
  }
  sentences.push_back(speed_sentence(family, step, std::move(rests), differ.has_value()));
  Sentences causes = causes_of(*step.cell);
  if (step.cell->oversubscribed)
    causes.push_back(
        {"oversubscribed",
         fmt::format("With {} there were more workers than cores: they take turns, and the figures say "
                     "nothing about a machine that has enough.",
                     step.cell->label),
         {evidence("workers", *step.cell, step.cell->workers)}});
  if (causes.empty() && step.efficiency->value >= kWellEfficiency)
    causes.push_back(well_sentence(step));
  else
    append(sentences, growth_of(one, *step.cell));
  append(sentences, std::move(causes));
}

bool is_cause(const std::string& finding) {
  static const std::set<std::string> kCauses = {"data-bound", "straggler", "uneven-ranks",
                                                "communication-bound", "oversubscribed"};
  return kCauses.contains(finding);
}

// A cause that several cells share is told in full for the first, with how many more there are.
Sentences once_each(Sentences sentences) {
  std::map<std::string, std::size_t> first;  // by finding: where it is told
  std::map<std::size_t, std::vector<Evidence>> more;
  Sentences told;
  for (Sentence& sentence : sentences) {
    const auto known = first.find(sentence.finding);
    if (is_cause(sentence.finding) && known != first.end()) {
      more[known->second].push_back(sentence.rests_on.front());
      continue;
    }
    first.emplace(sentence.finding, told.size());
    told.push_back(std::move(sentence));
  }
  for (auto& [place, rests] : more) {
    told[place].text += rests.size() == 1 ? fmt::format(" The same holds with {}.", rests.front().cell)
                                          : fmt::format(" The same holds in {} more cells.", rests.size());
    for (Evidence& rest : rests) told[place].rests_on.push_back(std::move(rest));
  }
  return told;
}

bool compared(const GridCell& one, const GridCell& other, const std::string& axis) {
  return std::all_of(one.point.begin(), one.point.end(), [&](const lab::AxisPoint& at) {
    return at.axis == axis || other.at(at.axis) == at.value;
  });
}

std::string setup_of(const GridCell& cell) {
  if (cell.runs.empty() || !cell.runs.front().spec.is_object()) return "";
  const auto& spec = cell.runs.front().spec;
  return spec.value("strategy", "") + spec.value("backend", "") + spec.value("engine", "");
}

// Whether an axis chooses between ways of dividing the work: a strategy, a backend, an engine, by its own
// name or by that of a group of fields.
bool is_choice(const Grid& grid, const std::string& axis) {
  if (axis == "workers" || axis == "machine") return false;
  for (const GridCell& one : grid.cells)
    for (const GridCell& other : grid.cells)
      if (compared(one, other, axis) && !setup_of(one).empty() && setup_of(one) != setup_of(other))
        return true;
  return false;
}

// One comparison along such an axis: the fastest against the slowest at the most workers.
void add_choice(Sentences& sentences, const Subject& subject, const std::string& axis) {
  const GridCell *best = nullptr, *worst = nullptr;
  for (const GridCell& one : subject.grid.cells)
    for (const GridCell& other : subject.grid.cells) {
      const auto fast = figure(one, "samples_per_second"), slow = figure(other, "samples_per_second");
      if (!fast || !slow || one.at(axis) == other.at(axis) || !compared(one, other, axis)) continue;
      if (fast->value < slow->value) continue;
      const double gain = fast->value / slow->value;
      const auto known = [](const GridCell* cell) { return figure(*cell, "samples_per_second")->value; };
      if (best != nullptr && (one.workers < best->workers ||
                              (one.workers == best->workers && gain <= known(best) / known(worst))))
        continue;
      best = &one;
      worst = &other;
    }
  if (best == nullptr) return;
  const auto fast = *figure(*best, "samples_per_second"), slow = *figure(*worst, "samples_per_second");
  const bool noisy = clearly_differ(fast, slow) == false;
  sentences.push_back({noisy ? "choice-noise" : "choice",
                       noisy ? fmt::format("Between {} and {} the difference is smaller than the noise.",
                                           best->label, worst->label)
                             : fmt::format("{} gives {} times the samples per second of {}.", best->label,
                                           display_number(fast.value / slow.value), worst->label),
                       speed_evidence(*worst, *best)});
}

}  // namespace

Sentences speed_words(const Subject& subject) {
  Sentences sentences;
  const std::vector<ScalingFamily> families = scaling_families(subject.grid);
  for (std::size_t i = 0; i < std::min(kMostFamilies, families.size()); ++i)
    add_family(sentences, families[i]);
  if (families.size() > kMostFamilies)
    sentences.push_back(
        {"more",
         fmt::format("{} more families are in the table of scaling.", families.size() - kMostFamilies),
         {}});
  if (families.empty())
    for (const GridCell& cell : subject.grid.cells) append(sentences, causes_of(cell));
  sentences = once_each(std::move(sentences));
  for (const GridAxis& axis : subject.grid.axes)
    if (is_choice(subject.grid, axis.name)) add_choice(sentences, subject, axis.name);
  return sentences;
}

}  // namespace lockstep::report
