// How fast more workers are, whether that exceeds the noise, and why not faster.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "lockstep/report/model/scaling.h"
#include "lockstep/report/words/causes.h"
#include "lockstep/report/words/hardware.h"

namespace lockstep::report {
namespace {

constexpr std::size_t kMostFamilies = 2;  // of a kind, that are told in full

std::vector<Evidence> speed_evidence(const GridCell& one, const GridCell& cell) {
  return {evidence("steps.samples_per_second", one, *figure(one, "samples_per_second"), "1/s"),
          evidence("steps.samples_per_second", cell, *figure(cell, "samples_per_second"), "1/s")};
}

std::string family_name(const ScalingFamily& family) {
  return fmt::format("{} ({} scaling)", family.label, name_of(family.scaling));
}

// "4 workers", and that they had to share cores where they had to.
std::string workers_text(const ScalingStep& step) {
  return fmt::format(
      "{} workers{}", step.cell->workers,
      step.cell->oversubscribed ? ", more than there are cores, so that they take turns," : "");
}

Sentence noise_sentence(const ScalingFamily& family, const ScalingStep& step, std::vector<Evidence> rests) {
  return {"noise",
          fmt::format("For {}, {} measured {} times the samples per second of one, but the difference is "
                      "smaller than the noise: which is faster cannot be told. More repeats or longer runs "
                      "would tell.",
                      family_name(family), workers_text(step), display_number(step.speedup->value)),
          std::move(rests)};
}

Sentence speed_sentence(const ScalingFamily& family, const ScalingStep& step, std::vector<Evidence> rests,
                        std::string_view hedge) {
  const bool alike = !hedge.empty() && std::abs(step.speedup->value - 1) < kUsualNoise;
  const char* verdict = step.speedup->value > 1 ? "faster" : "slower";
  std::string text = fmt::format(
      "For {}, {} are {} one: {} times its samples per second, {} of the ideal {}{}.", family_name(family),
      workers_text(step), alike ? "about as fast as" : std::string(verdict) + " than",
      display_number(step.speedup->value), percent(step.efficiency->value), display_number(step.ideal),
      hedge);
  return {alike ? "alike" : verdict, text, std::move(rests)};
}

// Of what was measured: that it does not bind the step.
std::string unbound_text(const GridCell& cell) {
  if (!knows_split(cell)) return "";
  return fmt::format(", and neither {} nor communication take {} of the step",
                     knows_waits(cell) ? "data, stragglers" : "data", percent(kBoundShare));
}

Sentence well_sentence(const ScalingStep& step) {
  return {knows_split(*step.cell) ? "all-well" : "scales-well",
          fmt::format("Scaling is good there: {} efficiency at {} workers{}. {}",
                      percent(step.efficiency->value), step.cell->workers, unbound_text(*step.cell),
                      has_spare_cores(*step.cell)
                          ? "More workers are worth trying."
                          : "All cores of this machine are in use: more workers need another machine."),
          {evidence("efficiency", *step.cell, *step.efficiency)}};
}

// Better than ideal is no achievement of the workers.
Sentence suspect_sentence(const ScalingStep& step) {
  return {
      "suspect-efficiency",
      fmt::format("An efficiency of {} at {} workers is suspect: above the ideal, it tells of caches that "
                  "hold a smaller part each, or of noise in the run of one worker.",
                  percent(step.efficiency->value), step.cell->workers),
      {evidence("efficiency", *step.cell, *step.efficiency)}};
}

// Why the step is not faster: what binds it, and what grew.
void add_why(Sentences& sentences, const GridCell& one, const ScalingStep& step) {
  Sentences causes = causes_of(*step.cell);
  if (step.efficiency->value > kSuspectEfficiency)
    sentences.push_back(suspect_sentence(step));
  else if (causes.empty() && step.efficiency->value >= kWellEfficiency)
    sentences.push_back(well_sentence(step));
  else
    append(sentences, growth_of(one, *step.cell));
  append(sentences, std::move(causes));
}

// The same where the workers had other numbers of threads: then that comes first, and no part of the step is
// blamed for what fewer threads did.
void add_why(Sentences& sentences, const GridCell& one, const ScalingStep& step,
             const ThreadChange& threads) {
  sentences.push_back(threads_sentence(one, step, threads));
  append(sentences, beyond_threads_words(one, step, threads));
  append(sentences, thread_growth_of(one, *step.cell, threads));
  append(sentences, causes_of(*step.cell));
}

void add_family(Sentences& sentences, const ScalingFamily& family) {
  const GridCell& one = *family.steps.front().cell;
  const ScalingStep& step = judged_step(family);
  if (!step.speedup || !step.efficiency) return;
  std::vector<Evidence> rests = speed_evidence(one, *step.cell);
  const Number before = *figure(one, "samples_per_second"), after = *figure(*step.cell, "samples_per_second");
  const auto threads = thread_change(one, *step.cell);
  if (clearly_differ(before, after) == false) {
    sentences.push_back(noise_sentence(family, step, std::move(rests)));
    if (threads)
      sentences.push_back(threads_sentence(one, step, *threads));
    else if (step.efficiency->value > kSuspectEfficiency)
      sentences.push_back(suspect_sentence(step));
    return;
  }
  sentences.push_back(speed_sentence(family, step, std::move(rests), hedge_of(before, after)));
  if (threads)
    add_why(sentences, one, step, *threads);
  else
    add_why(sentences, one, step);
}

bool is_cause(const std::string& finding) {
  static const std::set<std::string> kCauses = {"data-bound", "straggler", "uneven-ranks",
                                                "communication-bound", "suspect-efficiency"};
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

struct FamilyRange {
  const ScalingFamily *least = nullptr, *most = nullptr;
  std::size_t count = 0;
  Hedge hedge;
};

double speedup_of(const ScalingFamily& family) {
  return judged_step(family).speedup->value;
}

FamilyRange range_of(const std::vector<const ScalingFamily*>& families) {
  FamilyRange range;
  for (const ScalingFamily* family : families) {
    ++range.count;
    range.hedge.add(*figure(*family->steps.front().cell, "samples_per_second"),
                    *figure(*judged_step(*family).cell, "samples_per_second"));
    if (range.least == nullptr || speedup_of(*family) < speedup_of(*range.least)) range.least = family;
    if (range.most == nullptr || speedup_of(*family) > speedup_of(*range.most)) range.most = family;
  }
  return range;
}

std::string judged_text(const ScalingFamily& family) {
  const ScalingStep& step = judged_step(family);
  return fmt::format("{} times at {} workers ({}{})", display_number(speedup_of(family)), step.cell->workers,
                     family.label, step.cell->oversubscribed ? "; more workers than cores" : "");
}

// Where there are many families: how far apart they lie, in one sentence.
void add_range(Sentences& sentences, const std::vector<const ScalingFamily*>& families,
               predict::Scaling scaling) {
  const FamilyRange range = range_of(families);
  if (range.count < 2) return;
  std::vector<Evidence> rests;
  for (const ScalingFamily* family : {range.least, range.most})
    rests.push_back(evidence("speedup", *judged_step(*family).cell, *judged_step(*family).speedup));
  sentences.push_back(
      {"speedups",
       fmt::format("Of {} families of {} scaling, the speedup against one worker goes from {} to {}{}.",
                   range.count, name_of(scaling), judged_text(*range.least), judged_text(*range.most),
                   range.hedge.text()),
       rests});
  const ScalingStep& best = judged_step(*range.most);
  const GridCell& one = *range.most->steps.front().cell;
  if (const auto threads = thread_change(one, *best.cell))
    sentences.push_back(threads_sentence(one, best, *threads));
  else if (best.efficiency->value > kSuspectEfficiency)
    sentences.push_back(suspect_sentence(best));
}

// All of them where there are few; else the range, and the worst in full.
void add_families(Sentences& sentences, const std::vector<ScalingFamily>& families,
                  predict::Scaling scaling) {
  std::vector<const ScalingFamily*> chosen;
  for (const ScalingFamily& family : families)
    if (family.scaling == scaling && judged_step(family).efficiency) chosen.push_back(&family);
  if (chosen.size() <= kMostFamilies) {
    for (const ScalingFamily* family : chosen) add_family(sentences, *family);
    return;
  }
  add_range(sentences, chosen, scaling);
  const auto worst = std::min_element(chosen.begin(), chosen.end(), [](const auto* one, const auto* other) {
    return judged_step(*one).efficiency->value < judged_step(*other).efficiency->value;
  });
  add_family(sentences, **worst);
}

// Tails after the headline, which is about means, and before its reasons.
Sentences with_tails(Sentences sentences, Sentences tails) {
  auto place = std::find_if(sentences.begin(), sentences.end(),
                            [](const Sentence& sentence) { return !sentence.finding.starts_with("failed"); });
  if (place != sentences.end()) ++place;
  sentences.insert(place, tails.begin(), tails.end());
  return sentences;
}

}  // namespace

Sentences speed_words(const Subject& subject) {
  Sentences sentences = failure_words(subject);
  const std::vector<ScalingFamily> families = scaling_families(subject.grid);
  for (const predict::Scaling scaling : {predict::Scaling::weak, predict::Scaling::strong})
    add_families(sentences, families, scaling);
  if (families.empty())
    for (const GridCell& cell : subject.grid.cells) append(sentences, causes_of(cell));
  append(sentences, slice_words(subject.grid));
  return with_tails(once_each(std::move(sentences)), tail_words(subject));
}

}  // namespace lockstep::report
